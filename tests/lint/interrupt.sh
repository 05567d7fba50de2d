#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# interrupt.sh - SIGINT ends a stage of ./check and all its processes within 5 seconds
# (in_group in tools/stages.sh), also while make runs tests.
set -eu
work=$(mktemp -d "${TMPDIR:-/tmp}/interrupt.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mark=INTERRUPT_MARK=$$.$(basename "$work")
failures=0

cat >"$work/stage" <<END
#!/bin/sh
root='$top_srcdir' log='$work/log' stages=1
. '$top_srcdir/tools/stages.sh'
both() {
    beside logged make -j2 -C '$work/build' a b
    logged make -C '$work/build' c
}
stage 'something long'
"\$@"
END

# Two tests that do not ignore signals, and one that ignores SIGINT and SIGTERM.
mkdir "$work/build"
cat >"$work/build/Makefile" <<'END'
check: a b c
a b:
	@: >$@.up; sleep 60
c:
	@trap '' INT TERM; : >$@.up; sleep 60; sleep 60
END

marked() {
    grep -lzxsF -e "$mark" /proc/[0-9]*/environ | cut -d/ -f3 || :
}

is_up() { [ -e "$work/build/a.up" ] && [ -e "$work/build/b.up" ] && [ -e "$work/build/c.up" ]; }
is_gone() { [ -z "$(marked)" ]; }
until_true() {
    tries=$(($1 * 50))
    shift
    while [ "$tries" -gt 0 ]; do
        "$@" && return 0
        sleep 0.02
        tries=$((tries - 1))
    done
    return 1
}

# interrupted NAME SIGNAL STATUS COMMAND...: a stage that runs COMMAND and receives SIGNAL
# exits with STATUS.
interrupted() {
    name=$1 signal=$2 want=$3
    shift 3
    rm -f "$work"/build/*.up
    env --default-signal=INT "$mark" sh "$work/stage" "$@" >"$work/out" 2>&1 &
    pid=$!
    until_true 20 is_up || { echo "FAIL: $name: did not start"; cat "$work/out"; failures=1; }
    began=$(date +%s%N)
    kill -"$signal" "$pid"
    status=0
    wait "$pid" || status=$?
    took=$((($(date +%s%N) - began) / 1000000))
    [ "$status" = "$want" ] || { echo "FAIL: $name: status $status, not $want"; failures=1; }
    [ "$took" -le 20000 ] || { echo "FAIL: $name: took $took ms"; failures=1; }
    until_true 30 is_gone || { echo "FAIL: $name: left processes $(marked)"; failures=1; }
    for left in $(marked); do kill -KILL "$left" || :; done
}

interrupted 'a logged step' INT 130 logged make -j3 -C "$work/build" check
interrupted 'tests' INT 130 in_group "$top_srcdir/tools/run-tests" "$work/build" 3 60 "$work/log" ''
interrupted 'a build beside tests' INT 130 both
interrupted 'terminated' TERM 143 logged make -j3 -C "$work/build" check
[ "$failures" = 0 ]
