#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# sim.sh - the conformance suite in the simulation, alone and wrapped by hook with faults;
# with PGAS_TEST_LONG also wrapped by hook without faults.
set -eu
. "$top_srcdir/tests/transport/lib.sh"

suite sim
pes=3
[ -z "${PGAS_TEST_LONG:-}" ] || {
    pes=5
    suite hook:sim
}
[ -n "$brief" ] || suite hook:sim -n $pes -c seed=2,delay=40us,reorder,eagain=20
finish
