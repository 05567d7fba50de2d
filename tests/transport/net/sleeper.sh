#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# sleeper.sh - PEs that do not call the library do not delay the others and use almost no
# processor time; see sleeper.c.  Prints the figures; with PGAS_TEST_LONG the limits are
# those of an idle machine.
set -eu
. "$top_srcdir/tests/transport/net/lib.sh"
seconds=2 part=1 transports='ofi ucx tcp'
[ -z "$long" ] || seconds=5 part=3
[ -z "$brief" ] || transports=ofi seconds=1
slack=5
[ -z "$long" ] || slack=1
[ -z "${SANITIZED:-}" ] || slack=100
export SLEEPER_PES SLEEPER_SLACK=$slack
steady_begin # the PEs use its watch

# `2 late` gives each PE a processor on a machine with two: waits then spin longer.
all_ways() {
    for way in "4 sleep $seconds" "4 compute $part" "4 late $seconds" "2 late 1"; do
        SLEEPER_PES=${way%% *}
        # shellcheck disable=SC2086 # a word and a number
        job 0 2 "$SLEEPER_PES" "$net/sleeper" ${way#* }
        sort "$work/out" | sed "s/^/$SHMEM_TRANSPORT, ${way% *}: /"
    done
}

for_each "$transports" all_ways
end
