#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# sim.sh - the conformance suite in the simulation, alone and wrapped by hook with faults;
# with PGAS_TEST_LONG also wrapped by hook without faults.
set -eu
. "$top_srcdir/tests/transport/lib.sh"

suite sim
[ -z "${PGAS_TEST_LONG:-}" ] || suite hook:sim
suite hook:sim -n 3 -c seed=2,delay=40us,reorder,eagain=20
finish
