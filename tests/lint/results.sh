#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# results.sh - tests that ./check fails if one of its tests fails, if make fails without a
# result, and if there are no results; that it runs tests again that were unsteady (status 75),
# alone and only those; and that --soak counts.  Runs the functions of ./check on a small build.
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
. '$top_srcdir/tools/unsteady.sh'
END
    sed -n -e '/^result() {/p' -e '/^die() {/,/^}/p' -e '/^make_in() {/,/^}/p' \
        -e '/^# -- tests --/,/^# -----*$/p' "$top_srcdir/check"
} >"$work/functions"
{
    cat "$work/functions"
    cat <<'END'
result PASS check gcc-build "$log"
tests_of gcc
quiet_tests_of gcc
collect_all gcc other
finish
END
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

# -- tests that are unsteady: with automake's driver and tests/run-test -----------------------
# The k-th run of a test exits with the k-th of its statuses.
cat >"$work/test.sh" <<'END'
runs=$(($(cat "$0.runs" 2>/dev/null || echo 0) + 1))
echo $runs >"$0.runs"
[ ! -e alone ] || [ $runs = 1 ] || : >crowd
: >alone
status=$(cut -d ' ' -f $runs "$0.statuses")
rm alone
case $status in
75) echo 'unsteady: the end took 9 ms, more than 5; delayed on run queues for 3 ms' ;;
75-unmeasured) status=75 ;;
esac
exit "$status"
END
cat >"$work/makefile" <<END
check: \$(TESTS:.sh=.log)
%.log: %.sh FORCE
	@rm -f \$*.trs; top_builddir=. sh '$top_srcdir/build-aux/test-driver' --test-name \$*.sh \\
	    --log-file \$@ --trs-file \$*.trs --color-tests no -- \\
	    sh '$top_srcdir/tests/run-test' sh \$*.sh 9>&2
	@grep -q 'result: \(PASS\|SKIP\)' \$*.trs
FORCE:
END

# fresh BUILD STATUSES..: a build with one test for each list of statuses.
fresh() {
    dir=$work/build/$1
    shift
    mkdir -p "$dir/t"
    tests=
    for statuses in "$@"; do
        test=t/$(printf '%s' "$tests" | wc -w).sh
        cp "$work/test.sh" "$dir/$test"
        echo "$statuses" >"$dir/$test.statuses"
        tests="$tests $test"
    done
    { echo "TESTS =$tests" && cat "$work/makefile"; } >"$dir/Makefile"
}

# runs BUILD: prints how often each of its tests ran.
runs() { cat "$work/build/$1"/t/*.runs | tr '\n' ' '; }

# expect_end NAME STATUS LINE..: ./check exits with STATUS, and LINE.. are the last lines.
expect_end() {
    name=$1 want_status=$2
    shift 2
    status=0
    sh "$work/run" >"$work/out" 2>&1 </dev/null || status=$?
    printf '%s\n' "$@" >"$work/want"
    tail -n $# "$work/out" >"$work/lines"
    [ "$status" = "$want_status" ] && cmp -s "$work/want" "$work/lines" || {
        echo "FAIL: $name: status $status; expected $want_status and these last lines:"
        cat "$work/want"
        sed 's/^/    /' "$work/out"
        failures=1
    }
}

expect_runs() {
    [ "$(runs "$1")" = "$2" ] || {
        echo "FAIL: $name: the tests of $1 ran $(runs "$1")times, not $2"
        failures=1
    }
}

rm -rf "$work/build"
fresh gcc 0 '75 0' '1 0' 77 '75-unmeasured 0'
expect_end 'unsteady, then passed; a failure is final; so is 75 without a measurement' 1 \
    'unsteady: t/1.sh (gcc)' '3 passed, 2 failed, 1 skipped'
expect_runs gcc '1 2 1 1 1 '
grep -q '^      UNSTEADY  t/1.sh$' "$work/out" || { echo "FAIL: no UNSTEADY is shown" && failures=1; }
rm -rf "$work/build"
fresh gcc '75 75' '75 1'
expect_end 'unsteady, then unsteady again or failed' 1 'unsteady: t/0.sh (gcc)' \
    'unsteady: t/1.sh (gcc)' '1 passed, 2 failed'
expect_runs gcc '2 2 '
rm -rf "$work/build"
fresh gcc '75 0' '75 0' '75 0'
expect_end 'three are unsteady' 0 'unsteady: t/0.sh (gcc)' 'unsteady: t/1.sh (gcc)' \
    'unsteady: t/2.sh (gcc)' '4 passed, 0 failed'
[ ! -e "$work/build/gcc/crowd" ] || { echo "FAIL: they do not run alone" && failures=1; }
rm -rf "$work/build"
fresh gcc '75 0' '75 0'
fresh other '75 0' '75 0'
sed 's/^tests_of gcc$/tests_of gcc; tests_of other/' "$work/run" >"$work/both"
mv "$work/both" "$work/run"
expect_end 'four are unsteady' 1 'unsteady: t/0.sh (gcc)' 'unsteady: t/1.sh (gcc)' \
    'unsteady: t/0.sh (other)' 'unsteady: t/1.sh (other)' '1 passed, 4 failed'
expect_runs gcc '1 1 '
expect_runs other '1 1 '

{ cat "$work/functions" && echo 'soak_test t/0.sh 5'; } >"$work/run"
rm -rf "$work/build"
fresh gcc '0 75 0 1 77'
expect_end 'soak' 1 '2 passed, 1 failed, 1 unsteady, 1 skipped'
[ -s "$work/build/soak-4.log" ] || { echo "FAIL: soak keeps no log" && failures=1; }
[ "$failures" = 0 ]
