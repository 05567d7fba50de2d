#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Exit status of oshrun: the first failure in time determines it; the other PEs are ended.
# shellcheck disable=SC2016  # the PEs expand $PMIX_RANK
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
limit_s=40

# within MS STATUS ARGS...
within() {
    ms=$1
    shift
    steady_begin
    run "$@"
    steady_within "$ms" "oshrun $*"
}

run 0 -n 4 true
# Freed memory has other contents: nothing may be used after it was freed.
perturb=glibc.malloc.tcache_count=0:glibc.malloc.perturb=165
for nodes in 1 2; do
    GLIBC_TUNABLES=$perturb run 0 --vnodes $nodes -n 2 -v true
done
GLIBC_TUNABLES=$perturb run 0 -n 2 -v true
# PEs get the descriptors that oshrun inherited, none of its own, and default signals.
inherited=$(ls /proc/self/fd 37</dev/null)
for nodes in 1 2; do
    run 0 --vnodes $nodes -n 2 ls /proc/self/fd 37</dev/null
    [ "$(sort -un "$work/out")" = "$(echo "$inherited" | sort -un)" ] ||
        fail "descriptors of a PE: $(cat "$work/out")"
    run 142 --vnodes $nodes -n 1 sh -c 'kill -ALRM $$; exit 9'
done
within 15000 1 -n 4 false
within 15000 7 -n 4 sh -c '[ "$PMIX_RANK" = 2 ] && exit 7; sleep 60'
says 'PE 2 (pid [0-9]*) exited with status 7; ending 3 other PEs'
for s in KILL:137 SEGV:139 TERM:143 ABRT:134; do
    within 15000 "${s#*:}" -n 3 sh -c "[ \$PMIX_RANK = 1 ] && kill -${s%:*} \$\$; sleep 60"
    says "PE 1 (pid [0-9]*) was killed by signal $((${s#*:} - 128)) (.*); ending 2 other"
done
# The first in time, not the first in rank; PEs that ignore SIGTERM are killed.
within 15000 5 -n 4 sh -c '
    trap "" TERM
    [ "$PMIX_RANK" = 3 ] && exit 5
    [ "$PMIX_RANK" = 0 ] && { sleep 2; exit 6; }
    sleep 60; sleep 60'
[ "$(wc -l <"$work/err")" = 1 ] || fail "more than one message: $(cat "$work/err")"
# Processes that PEs leave in their process groups are ended too.
within 15000 0 -n 2 sh -c 'sleep 60 & exit 0'
check_nothing_left "children of PEs"
# oshrun does not wait for a daemon process that holds the pipe open.
run 0 -n 1 setsid -f sleep 60
daemon=$(marked)
[ -n "$daemon" ] || fail "a daemon process was killed although the job succeeded"
[ -z "$daemon" ] || kill "$daemon"

run 0 -n 3 "$client" good
[ "$(grep -c 'is there' "$work/out")" = 3 ] || fail "not all PEs wrote"
for s in 42 0 255 256 300; do
    within 15000 $((s & 255)) -n 3 "$client" abort 1 $s
    if [ "$s" = 0 ]; then
        [ ! -s "$work/err" ] || fail "abort with 0 is not silent: $(cat "$work/err")"
    else
        says "PE 1 ended the job with status $((s & 255))"
    fi
done
within 15000 9 -n 3 "$client" exit 2 9
says 'PE 2 .* exited with status 9; ending 2 other'
ASAN_OPTIONS=handle_segv=0
export ASAN_OPTIONS # the signal is to kill the process
within 15000 139 -n 3 "$client" signal 0 11
within 15000 1 -n 3 "$client" leave 1 0
says 'PE 1 .* exited without shmem_finalize; ending 2 other'
run 0 -n 3 "$client" leave-all
begin=$(now_ms)
run 3 -n 3 "$client" finalized-exit 1 3
[ $(($(now_ms) - begin)) -ge 300 ] || fail "the exit of one PE ended PEs that were still running"
says 'exited with status 3 after shmem_finalize'

# A failure after shmem_finalize does not hide a later one.
within 15000 3 -n 3 sh -c 'case $PMIX_RANK in
    1) got=0; "$0" finalized-exit 1 3 || got=$?; : >"$1"; exit $got ;;
    2) "$0" hang & until [ -e "$1" ]; do sleep 0.05; done; sleep 1; kill -SEGV $$ ;;
    *) exec "$0" hang ;;
    esac' "$client" "$work/finalized"
says 'PE 1 .* exited with status 3 after shmem_finalize'
says 'PE 2 .* was killed by signal 11 (.*); ending 1 other PE$'

# A PE that exits without shmem_init ends the job, before or after others call it.
for wait in '0 0' '0 0.5' '0.5 0'; do
    within 15000 1 -n 2 sh -c 'if [ "$PMIX_RANK" = 0 ]; then sleep "$1"; exit 0; fi
        sleep "$2"; exec "$0" hang' "$client" "${wait% *}" "${wait#* }"
    says 'PE 0 (pid [0-9]*) exited without shmem_init; ending 1 other PE$'
done
run 0 -n 2 sh -c '[ "$PMIX_RANK" = 0 ] || sleep 1.3'
# The PE continues in a background process: the exit of the first one does not end the job.
run 0 -n 2 sh -c '[ "$PMIX_RANK" != 0 ] || exec setsid -f "$0" good
    sleep 0.2; "$0" good; sleep 1.3' "$client"
[ ! -s "$work/err" ] || fail "a PE in the background: $(cat "$work/err")"
finish
