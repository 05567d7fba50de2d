#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# threads.sh - builds tests/coll/threads.c and the library's sources with the thread
# sanitizer, PEs as threads, and runs it with delays at the hand-overs: the long form with
# each algorithm, the short one with those that hand over in different ways.
# That the sanitizer sees races here shows a copy in which one store has lost its order.
set -eu
work=$(mktemp -d "${TMPDIR:-/tmp}/threads.XXXXXX")
trap 'rm -rf "$work"' EXIT
skip() {
    echo "skipped: $1"
    exit 77
}
[ -z "${SANITIZED:-}" ] || skip 'the plain build has run it'
calls=50 sizes=5 algorithms='auto slices chain tree'
[ -z "${PGAS_TEST_LONG:-}" ] || {
    calls=20000 sizes='2 3 4 7 12 16'
    algorithms='auto flat last first lines slices chain tree static'
}
limit_s=300
cd "$top_srcdir"

# Those of the library, some of them made by its build, without the public names.
list_sources() {
    grep -o 'pgas/[a-z0-9_/]*\.c' pgas/local.mk | sort -u |
        grep -v -e '^pgas/transport/[ou][fc][ix]' -e '^pgas/coll/sync/mailbox.c' -e _sve \
            -e '/sim' -e '/api_' |
        while read -r source; do
            [ -f "$source" ] || source=$top_builddir/$source
            echo "$source"
        done
}

# compile SOURCE..: each to an object in $work, on all processors.
compile() {
    flags="-std=gnu11 -O1 -g1 -fsanitize=thread -w -DPGAS_PE_LOCAL=_Thread_local"
    flags="$flags -I$top_builddir -I. -Iinclude $(pkg-config --cflags pmix)"
    export work flags
    # shellcheck disable=SC2016 # for the shells there
    printf '%s\n' "$@" | xargs -n 6 -P "$(nproc)" sh -c '
        for source in "$@"; do
            $CC $flags -c "$source" -o "$work/$(basename "$source" .c).o" || exit 255
        done' sh
}

# link PROGRAM [MAIN]: with the object of tests/coll/MAIN.c; without: threads.c.
link() {
    main=${2:-threads}
    # shellcheck disable=SC2046 # words
    "$CC" -fsanitize=thread $(ls "$work"/*.o | grep -v '/threads[a-z_]*\.o$') \
        "$work/$main.o" -o "$work/$1" $(pkg-config --libs pmix) \
        -lpthread -lm -ldl
}

failures=0
# pes PES SEED: with what is in the environment.
pes() {
    got=0
    SHMEM_STRESS=$2 timeout -s KILL $limit_s "$work/threads" "$1" "$calls" "$2" \
        >"$work/out" 2>&1 || got=$?
    [ $got != 0 ] || return 0
    echo "FAIL: $1 PEs, seed $2, reduce ${SHMEM_REDUCE_ALGORITHM:-}, alltoall ${SHMEM_ALLTOALL_ALGORITHM:-}: status $got"
    head -n 60 "$work/out"
    failures=$((failures + 1))
}

echo 'int main(void) { return 0; }' >"$work/nothing.c"
"$CC" -fsanitize=thread "$work/nothing.c" -o "$work/nothing" 2>/dev/null &&
    "$work/nothing" 2>/dev/null || skip "$CC has no thread sanitizer that works here"
# shellcheck disable=SC2046 # words
compile $(list_sources) tests/coll/threads.c tests/coll/threads_one_pe.c pgas/coll/sync/mailbox.c \
    pgas/transport/ofi/ofi_absent.c pgas/transport/ucx/ucx_absent.c
link one_pe threads_one_pe
timeout -s KILL $limit_s "$work/one_pe" "$calls" >"$work/out" 2>&1 || {
    echo "FAIL: threads of one PE: status $?"
    head -n 60 "$work/out"
    failures=$((failures + 1))
}
link threads
seed=0
for algorithm in $algorithms; do
    export SHMEM_REDUCE_ALGORITHM=$algorithm
    for n in $sizes; do
        seed=$((seed + 1))
        pes "$n" $seed
    done
done
export SHMEM_REDUCE_ALGORITHM=auto SHMEM_BROADCAST_ALGORITHM=direct
export SHMEM_FCOLLECT_ALGORITHM=arrival SHMEM_ALLTOALL_ALGORITHM=arrival
pes 4 1
[ -z "${PGAS_TEST_LONG:-}" ] || pes 7 2
pes 2 3
unset SHMEM_FCOLLECT_ALGORITHM SHMEM_ALLTOALL_ALGORITHM

# mutant PES ALGORITHM SOURCE FUNCTION: with what it stores last stored before the data may
# be there.
mutant() {
    name=$(basename "$3")
    sed "/^[a-z_ ]* $4(/,/^}/s/store_release_/store_relaxed_/" "$3" >"$work/$name"
    cmp -s "$3" "$work/$name" && {
        echo "FAIL: $3: nothing of $4 is changed"
        failures=$((failures + 1))
    }
    compile "$work/$name"
    link mutant
    ! SHMEM_REDUCE_ALGORITHM=$2 TSAN_OPTIONS=halt_on_error=1 \
        timeout -s KILL $limit_s "$work/mutant" "$1" 100 1 >"$work/out" 2>&1 || {
        echo "FAIL: $4 of $3, $2: no race is seen where there is one"
        failures=$((failures + 1))
    }
    grep -q 'data race' "$work/out" || {
        echo "FAIL: $4 of $3, $2: the report of the race:"
        head -n 20 "$work/out"
        failures=$((failures + 1))
    }
    compile "$3"
}
mutant 4 auto pgas/coll/sync/mailbox.c mailbox_publish
mutant 4 slices pgas/coll/sync/barrier.c barrier_count
if [ -n "${PGAS_TEST_LONG:-}" ]; then
    mutant 4 tree pgas/coll/sync/mailbox.c mailbox_hand_over
    mutant 4 chain pgas/coll/sync/mailbox.c mailbox_hand_over
    mutant 4 chain pgas/coll/algorithms/reduce_buffered.c reduce_buffered_hand_on
    mutant 4 auto pgas/coll/nonblocking/nb_data.c nb_tell
    mutant 2 slices pgas/coll/sync/barrier.c barrier_disseminate
    mutant 4 auto pgas/coll/shared/shared_node.c shared_node_say
fi
[ $failures -eq 0 ]
