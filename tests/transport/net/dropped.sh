#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# dropped.sh - with SHMEM_FT=continue operations on a dead PE are dropped, and those that wait
# for the verdict of the failure detector return when it arrives; without one the job ends.
# The program takes the part of the failure detector.  The launcher's child is a shell, so
# that the launcher does not notice at once that the PE was killed.
# shellcheck disable=SC2016 # for the PEs
set -eu
. "$top_srcdir/tests/transport/net/lib.sh"
dropped=$net/dropped
SHMEM_FT=continue
export SHMEM_FT
hide='"$0" "$@" || s=$?; [ "${s:-0}" != 137 ] || { sleep 8; exit 0; }; exit "${s:-0}"'

# lose HOW DONE: run the program; DONE of the 3 survivors complete.
lose() {
    "$OSHRUN" --timeout $stacks_s --vnodes 2 -n 4 sh -c "$hide" "$dropped" "$1" \
        >"$work/out" 2>"$work/err" </dev/null || :
    what="$SHMEM_TRANSPORT, $1"
    [ "$(grep -c ': done$' "$work/out")" = "$2" ] || {
        fail "$what: the survivors have not completed"
        sed 's/^/    /' "$work/out" "$work/err"
    }
    check_nothing_left "$what"
}

all_ways() {
    for how in $ways; do
        lose "$how" 3
    done
    [ -n "$long" ] || return 0
    lose alive 0
    grep -q 'lost PE 3 .*which the failure detector considers alive for 5 s' \
        "$work/err" || fail "$SHMEM_TRANSPORT, alive: no message"
}

ways='stop kill'
[ -z "$long" ] || ways='stop kill early local'
[ -z "$brief" ] || ways=stop
for_each 'ofi ucx tcp' all_ways
end
