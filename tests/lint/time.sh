#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# time.sh - every test that judges how long something takes does so with tests/steady, and no
# limit is so short that a busy machine exceeds it; time.txt lists the exceptions.  Then tests
# that time.awk finds what it should.  Prints "rows N, outcomes M".
set -euf
work=$(mktemp -d "${TMPDIR:-/tmp}/time.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 99' INT TERM HUP
lint=$top_srcdir/tests/lint
failed=0

# The files of this folder and of tests/steady have what the others must not have.
cd "$top_srcdir"
{
    find tests bench -name '*.sh' -o -path 'tests/*.[ch]'
    find tests -type f ! -name '*.*' -exec grep -lI '^#!/bin/sh' {} +
} | grep -v -e '^tests/steady/' -e '^tests/lint/\(results\|time\)\.sh' | sort >"$work/files"
# shellcheck disable=SC2046 # names without blanks
awk -v table=tests/lint/time.txt -f "$lint/time.awk" $(cat "$work/files") || failed=1

# A test of the release archive fails there, where nothing runs again.
for test in $(awk '$2 ~ /archive/ { print $1 }' tests/plan.txt | tr '()|' '   '); do
    ! grep -qs 'steady_begin' "$test" || { echo "$test: [time] an archive test judges time" && failed=1; }
done

# expect STATUS ROWS FILE TABLE: the awk program, on FILE with the text of standard input.
expect() {
    mkdir -p "$work/tests"
    cat >"$work/tests/$3"
    printf '%s\n' "$4" >"$work/table"
    status=0
    (cd "$work" && awk -v table=table -f "$lint/time.awk" "tests/$3") >"$work/out" || status=$?
    [ "$status" = "$1" ] && grep -q "^rows $2, " "$work/out" || {
        echo "FAIL: time.awk on $3: status $status, expected $1 and rows $2; its output:"
        cat "$work/out" "$work/tests/$3"
        failed=1
    }
}

expect 0 0 a.sh '' <<'END'
# [ "$took" -le 5 ] is a comment
until_true 20 true
timeout -k 5 20 true
[ "$n" -le 5 ]
END
expect 1 1 a.sh '' <<'END'
[ "$took" -le 30000 ] || fail
END
expect 1 1 a.sh '' <<'END'
lasted=$(($(now_ms) - begin))
[ "$lasted" -le 30000 ] || fail
END
expect 1 2 a.sh '' <<'END'
began=$(date +%s)
[ $(($(date +%s) - began)) -lt 60 ]
[ $began -gt 7 ]
END
expect 0 1 a.sh '' <<'END'
steady_within 500 "the end"
END
for line in 'until_true 19 true' 'timeout -k 5 10 true' 'await 5' 'limit_s=9' 'end_ms=19999' \
    'run 0 --timeout 7 -n 2 true' 'SHMEM_NET_TIMEOUT=2 run 0 -n 2 true'; do
    echo "$line" | expect 1 1 a.sh ''
    echo "$line" | expect 0 1 a.sh "tests/a.sh | ${line%% *} | product | reason"
done
echo 'limit_s=9' | expect 1 1 a.sh 'tests/a.sh | limit_s=9 | guard |'
echo 'limit_s=9' | expect 1 1 a.sh 'tests/a.sh | limit_s=9 | because | reason'
echo 'limit_s=90' | expect 1 0 a.sh 'tests/a.sh | limit_s=9 | guard | no row matches'
echo 'limit_s=9' | expect 0 1 a.sh 'tests/* | * | product | reason'
echo 'limit_s=9' | expect 1 1 a.sh 'tests/a.sh | limit_s=9 | guard | too short for a guard'
expect 0 0 a.c '' <<'END'
/* took = now_ms(); a comment: took < 5 */
enum { WAIT_MS = 20000, LIMIT_S = 20, TIMEOUT_NS = 0 };
Test(a, b, .timeout = 20)
alarm(20);
static uint64_t begin = now_ns();
END
for line in 'while (now_ms() < 5)' 'cr_assert_lt(now_ms() - start, 5);' 'enum { WAIT_MS = 19999 };' \
    '#define LIMIT_S   19' 'Test(a, b, .timeout = 19)' 'alarm(5);' \
    'uint64_t took = now_ns() - begin; CHECK(took < 5);'; do
    echo "$line" | expect 1 1 a.c ''
done
expect 1 1 a.c '' <<'END'
    double took = check_now() - begin;
    CHECK(took < 3);
END
echo 'exit(steady_status(&s, took, "the end"));' | expect 0 1 a.c ''
[ $failed = 0 ]
