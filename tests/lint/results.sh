#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# results.sh - tests that ./check fails if one of its tests fails, if make fails without a
# result, and if there are no results.  Runs the functions of ./check on a small build.
set -eu
work=$(mktemp -d "${TMPDIR:-/tmp}/results.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
failures=0
unset MAKEFLAGS MFLAGS MAKELEVEL # of the make that runs this test

{
    cat <<END
set -eu
root='$top_srcdir' build='$work/build' log='$work/log' stages=1 at_once=2 half=1
results='$work/results'
: >"\$log"
: >"\$results"
. '$top_srcdir/tools/stages.sh'
END
    sed -n -e '/^result() {/p' -e '/^make_in() {/,/^}/p' -e '/^# -- tests --/,/^# -----*$/p' "$top_srcdir/check"
    echo 'result PASS check gcc-build "$log"'
    echo 'tests_of gcc'
    echo 'quiet_tests_of gcc'
    echo 'finish'
} >"$work/run"

# expect NAME STATUS LAST-LINE RECIPE-LINE...: ./check exits with STATUS and LAST-LINE if the
# recipe of make check is RECIPE-LINE...
expect() {
    name=$1 want_status=$2 want_line=$3
    shift 3
    rm -rf "$work/build"
    mkdir -p "$work/build/gcc/t"
    {
        echo 'TESTS = t/a.sh t/b.sh'
        echo 'check:'
        printf '\t@%s\n' "$@"
    } >"$work/build/gcc/Makefile"
    status=0
    sh "$work/run" >"$work/out" 2>&1 </dev/null || status=$?
    line=$(tail -n 1 "$work/out")
    [ "$status" = "$want_status" ] && [ "$line" = "$want_line" ] || {
        echo "FAIL: $name: status $status, '$line'; expected $want_status, '$want_line'"
        sed 's/^/    /' "$work/out"
        failures=1
    }
}

a="echo ':test-result: PASS' >t/a.trs"
expect 'all pass' 0 '3 passed, 0 failed' "$a" "echo ':test-result: PASS' >t/b.trs"
expect 'one fails' 1 '2 passed, 1 failed' "$a" "echo ':test-result: FAIL' >t/b.trs" false
expect 'one skips' 0 '2 passed, 0 failed, 1 skipped' "$a" "echo ':test-result: SKIP' >t/b.trs"
expect 'make fails without a result' 1 '2 passed, 1 failed' "$a" false
expect 'no results' 1 '1 passed, 1 failed' :
[ "$failures" = 0 ]
