#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# teams_leave.sh - errors in the use of teams end the job soon, with a message; teams that
# still exist at the end are no error.  See teams_leave.c.
set -eu
leave=$top_builddir/tests/api/multi/teams_leave
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# job HOW PES: run teams_leave HOW; sets $status and $took (whole seconds); output in
# $work/out.
job() {
    status=0 start=$(date +%s)
    timeout -k 5 30 "$OSHRUN" -n "$2" "$leave" "$1" >"$work/out" 2>&1 </dev/null ||
        status=$?
    took=$(($(date +%s) - start))
}

wrong() {
    echo "teams_leave: $*; its output:"
    cat "$work/out"
    failed=1
}

# fails_with HOW PES MESSAGE: the job fails within 5 s and prints MESSAGE.
fails_with() {
    job "$1" "$2"
    case $status in
    0) wrong "$1 with $2 PEs should fail" ;;
    124 | 137) wrong "$1 with $2 PEs hangs" ;;
    esac
    [ $took -le 25 ] || wrong "$1 with $2 PEs took $took s"
    grep -q "$3" "$work/out" || wrong "$1 with $2 PEs should print '$3'"
}

sizes='2 5'
[ -z "${PGAS_TEST_LONG:-}" ] || sizes='2 3 5'
for n in $sizes; do
    last=$((n - 1))
    gone="PE $last has exited or called shmem_finalize while other PEs wait in"
    fails_with finalize $n "$gone shmem_long_sum_reduce"
    fails_with exit $n "$gone shmem_long_sum_reduce"
    fails_with destroy $n "$gone shmem_team_destroy"
    fails_with split $n "$gone shmem_team_split_strided"
    [ $failed = 0 ] || exit 1 # each hang takes the full time limit
    job stay $n
    [ $status = 0 ] || wrong "stay with $n PEs ended with $status"
done
fails_with world 2 'shmem_team_destroy: .*SHMEM_TEAM_WORLD'
fails_with shared 2 'shmem_team_destroy: .*SHMEM_TEAM_SHARED'
fails_with default-ctx 2 'shmem_ctx_destroy: .*SHMEM_CTX_DEFAULT'
fails_with stale 2 'shmem_long_sum_reduce: .*not a valid team (already destroyed?)'
fails_with stale-ctx 2 'shmem_ctx_long_p: .*not a valid context (already destroyed?)'
fails_with garbage 1 'shmem_team_n_pes: .*not a valid team'
fails_with outside 3 "shmem_ctx_long_p: argument 'pe' = 3, but .* has PEs 0..2"
fails_with none 1 'shmem_ctx_long_p: .*SHMEM_CTX_INVALID'
exit $failed
