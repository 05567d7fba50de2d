#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# sim.sh - the conformance suite in the simulation, alone and under hook.
set -eu
. "$top_srcdir/tests/transport/lib.sh"

suite sim
[ -n "$brief" ] || suite hook:sim
suite hook:sim -n 5 -c seed=2,delay=40us,reorder,eagain=20
finish
