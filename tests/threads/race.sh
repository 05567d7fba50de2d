#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# race.sh - rings and the ticket lock under the thread sanitizer (race.c), and that it reports each
# missing memory order; one of them unless PGAS_TEST_LONG.
set -eu
work=$(mktemp -d "${TMPDIR:-/tmp}/pgas-race.XXXXXX")
trap 'rm -rf "$work"' EXIT
threads=$top_srcdir/pgas/threads
failed=0

echo 'int main(void) { return 0; }' >"$work/nothing.c"
# shellcheck disable=SC2086 # CC may be "ccache gcc"
if ! $CC -fsanitize=thread "$work/nothing.c" -o "$work/nothing" 2>/dev/null || ! "$work/nothing"; then
    echo "skipped: no thread sanitizer"
    exit 77
fi

# build NAME: with the files in $work.  Without the warning that the sanitizer ignores the fences of the
# sleep in ticket.c: ticket.pml checks those.
build() {
    ticket=$threads/ticket.c
    [ ! -e "$work/pgas/threads/ticket.c" ] || ticket=$work/pgas/threads/ticket.c
    rm -f "$work/$1" "$work/out"
    # shellcheck disable=SC2086
    $CC -std=gnu11 -w -O1 -g1 -fsanitize=thread -I"$work" -I"$top_builddir" -I"$top_srcdir" \
        -include "$top_srcdir/tests/unit/threads_point.h" "$top_srcdir/tests/threads/race.c" \
        "$ticket" -lpthread -o "$work/$1"
}

# race NAME: runs it; its status
race() {
    timeout -k 5 120 "$work/$1" >"$work/out" 2>&1
}

build race
race race || { cat "$work/out" && echo "FAIL: a report" && failed=1; }

# FILE COMMAND: defects
mutants=1
[ -z "${PGAS_TEST_LONG:-}" ] || mutants=99
mkdir -p "$work/pgas/threads"
head -n "$mutants" >"$work/mutants" <<'END'
spsc.h s/store_release_u64(&r->head/store_relaxed_u64(\&r->head/
mpsc.h s/store_release_u64(&cell->turn, p/store_relaxed_u64(\&cell->turn, p/
spsc.h s/store_release_u64(&r->tail/store_relaxed_u64(\&r->tail/
spsc.h s/load_acquire_u64(&r->tail/load_relaxed_u64(\&r->tail/
spsc.h s/load_acquire_u64(&r->head/load_relaxed_u64(\&r->head/
mpsc.h s/store_release_u64(&cell->turn, r/store_relaxed_u64(\&cell->turn, r/
mpsc.h s/load_acquire_u64(&cell->turn) != /load_relaxed_u64(\&cell->turn) != /
mpsc.h s/load_acquire_u64(&cell->turn) - p/load_relaxed_u64(\&cell->turn) - p/
ticket.h s/store_release_u32(&l->serving/store_relaxed_u32(\&l->serving/
ticket.h s/load_acquire_u32(&l->serving) != ticket/load_relaxed_u32(\&l->serving) != ticket/
ticket.c s/load_acquire_u32(&l->serving)/load_relaxed_u32(\&l->serving)/
END
while read -r file command; do
    sed "$command" "$threads/$file" >"$work/pgas/threads/$file"
    ! cmp -s "$threads/$file" "$work/pgas/threads/$file" || { echo "FAIL: no change: $command" && failed=1; }
    if ! build mutant; then
        echo "FAIL: does not compile: $file $command" >"$work/out"
        failed=1
    elif race mutant; then
        echo "FAIL: not revealed: $file $command"
        failed=1
    fi
    grep -m 1 -E '^FAIL|WARNING' "$work/out" || { echo "FAIL: no report: $file $command" && failed=1; }
    rm "$work/pgas/threads/$file"
done <"$work/mutants"
exit "$failed"
