#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tail.sh - matching with tail queues by several threads, with random delays, under the thread
# sanitizer where the compiler has it; and that the test reveals defects (mutants.txt).
# PGAS_TEST_LONG: many rounds, all defects instead of two, and the address sanitizer.
set -eu
work=$(mktemp -d "${TMPDIR:-/tmp}/pgas-tail.XXXXXX")
trap 'rm -rf "$work"' EXIT
match=$top_srcdir/compat/mpi/match
flags="-std=gnu11 -O1 -g1 -I$top_builddir -I$top_srcdir"
queue="$top_srcdir/pgas/datatype/isa.c $match/match_queue.c $match/match_nodes.c $match/match_bins.c"
failed=0

echo 'int main(void) { return 0; }' >"$work/nothing.c"
tsan=-fsanitize=thread
# shellcheck disable=SC2086 # CC may be "ccache gcc"
$CC $tsan "$work/nothing.c" -o "$work/nothing" 2>/dev/null && "$work/nothing" || tsan=

# objects NAME FLAGS FILE...: compiles them as NAME-*.o.  What is missing comes from the library.
objects() {
    name=$1 more=$2
    shift 2
    for file in "$top_srcdir/pgas/threads/adaptive.c" "$top_srcdir/pgas/threads/mcs.c" \
        "$top_srcdir/tests/match/tail.c" "$@"; do
        # shellcheck disable=SC2086
        $CC $flags $more -c "$file" -o "$work/$name-$(basename "$file" .c).o"
    done
}

# program NAME SOURCE FLAG...: with its match_tail.c
program() {
    name=$1 source=$2
    shift 2
    # shellcheck disable=SC2086
    $CC $flags "$@" -include "$top_srcdir/tests/match/tail_point.h" "$source" "$work/$name"-*.o \
        "$top_builddir/.libs/libmatch.a" -lpthread -o "$work/$name"
}

rounds=${PGAS_TEST_LONG:+2000} mutants=2
[ -z "$rounds" ] || mutants=99
objects plain "" "$top_srcdir/pgas/datatype/isa.c"
program plain "$match/match_tail.c"
timeout -k 5 600 "$work/plain" "${rounds:-9}" || { echo "FAIL: status $?" && failed=1; }
if [ -n "$tsan" ]; then
    # shellcheck disable=SC2086 # words
    objects tsan $tsan $queue
    program tsan "$match/match_tail.c" $tsan -DINBOX_SHORT=1
    timeout -k 5 600 "$work/tsan" "${rounds:-4}" >"$work/out" 2>&1 || {
        cat "$work/out"
        echo "FAIL: thread sanitizer"
        failed=1
    }
fi

if [ -n "${PGAS_TEST_LONG:-}" ]; then
    asan="-fsanitize=address,undefined -fno-sanitize-recover=all"
    # shellcheck disable=SC2086
    objects asan "$asan" $queue
    # shellcheck disable=SC2086
    program asan "$match/match_tail.c" $asan -DINBOX_SHORT=1
    timeout -k 5 600 "$work/asan" "$rounds" >"$work/out" 2>&1 || {
        cat "$work/out"
        echo "FAIL: address sanitizer"
        failed=1
    }
fi

grep -v '^#' "$top_srcdir/tests/match/mutants.txt" |
    head -n "$mutants" >"$work/mutants"
while IFS= read -r command; do
    sed "$command" "$match/match_tail.c" >"$work/mutant.c"
    ! cmp -s "$match/match_tail.c" "$work/mutant.c" || {
        echo "FAIL: no change: $command"
        failed=1
    }
    program plain "$work/mutant.c"
    # Only a failed check counts, not a crash at start or the time limit.
    timeout -k 5 60 "$work/plain" 300 >"$work/out" 2>&1 || :
    grep -q '^FAIL: ' "$work/out" || {
        echo "FAIL: not revealed: $command"
        failed=1
    }
    tail -n 2 "$work/out"
done <"$work/mutants"
exit "$failed"
