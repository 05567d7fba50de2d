#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# sleeper.sh - PEs that do not call the library do not hold up the others, and cost no
# processor; see sleeper.c.  The figures are printed.
set -eu
. "$top_srcdir/tests/net/lib.sh"
seconds=2 part=1 transports='ofi ucx'
[ -z "$long" ] || seconds=5 part=3
[ -z "$brief" ] || transports=ofi seconds=1
[ -z "${SANITIZED:-}" ] || export SLEEPER_LAX=1
SLEEPER_PES=4
export SLEEPER_PES

all_ways() {
    for way in "sleep $seconds" "compute $part" "late $seconds"; do
        # shellcheck disable=SC2086 # a word and a number
        job 0 2 $SLEEPER_PES "$net/sleeper" $way
        sort "$work/out" | sed "s/^/$SHMEM_TRANSPORT, ${way% *}: /"
    done
}

for_each "$transports" all_ways
end
