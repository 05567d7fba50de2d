#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# killed.sh - with SHMEM_FT=continue PEs are killed while all PEs have many gets, puts and
# atomics in flight: the survivors go on, over each transport (killed.c).  With odd seeds three
# threads of each PE use the default context, which has a transport context for each of them.
# PGAS_TEST_LONG: 30 jobs with each, else two over tcp.  KILLED_SEED: the first seed.
set -eu
. "$top_srcdir/tests/transport/net/lib.sh"
SHMEM_FT=continue SHMEM_FT_PERIOD=200 SHMEM_FT_TIMEOUT=2000
export SHMEM_FT SHMEM_FT_PERIOD SHMEM_FT_TIMEOUT
jobs=1
[ -z "$long" ] || jobs=30

one() {
    status=0
    "$OSHRUN" --timeout $stacks_s --vnodes 3 -n 6 "$net/killed" "$1" $(($1 % 2 * 2 + 1)) \
        >"$work/out" \
        2>"$work/err" </dev/null || status=$?
    what="$SHMEM_TRANSPORT, seed $1"
    [ $status = 0 ] && [ "$(grep -c 'is left' "$work/out")" = 1 ] || {
        fail "$what: status $status"
        sed 's/^/    /' "$work/out" "$work/err"
    }
    check_nothing_left "$what"
}

all_jobs() {
    [ "$SHMEM_TRANSPORT$jobs" != tcp1 ] || jobs=2
    for i in $(seq $jobs); do
        one $((${KILLED_SEED:-1} + i - 1))
    done
}

for_each 'ofi ucx tcp' all_jobs
end
