# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# oshrun-lib.sh - functions of the tests of oshrun.  Sourced, not run.
#
# A test that judges time calls steady_begin and steady_within (tests/steady/steady.sh): it
# exits with 75 if it was not met because the test did not get its processor.
#
# Every oshrun has a mark in its environment, which identifies processes left behind, and
# its own TMPDIR, which must be empty at the end.

: "${OSHRUN:?}" "${top_builddir:?}" "${top_srcdir:?}"
client=$top_builddir/tests/launcher/cli/oshrun-client
work=$(mktemp -d "${TMPDIR:-/tmp}/oshrun-test.XXXXXX")
mkdir "$work/tmp"
mark=PGAS_TEST_MARK=$$.$(basename "$work")
failures=0
limit_s=${limit_s:-60}

. "$top_srcdir/tests/steady/steady.sh"

trap 'rm -rf "$work"' EXIT
trap 'exit 99' INT TERM HUP

fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}

# run STATUS ARGS...: oshrun must exit with STATUS; output in $work/out and $work/err.  A PE
# that exits with 75 was unsteady (tests/steady/steady.h).
run() {
    want=$1
    shift
    got=0
    timeout -s KILL "$limit_s" env "$mark" TMPDIR="$work/tmp" "$OSHRUN" "$@" \
        >"$work/out" 2>"$work/err" || got=$?
    [ "$got" = "$want" ] && return 0
    case $got in
    75) steady_ended 75 "oshrun $*" && sed 's/^/    /' "$work/out" ;;
    *) fail "oshrun $*: exit status $got, expected $want" ;;
    esac
    sed 's/^/    /' "$work/err"
}

# start ARGS...: runs oshrun in the background; its pid in $pid.  Removes the output of the
# previous run.
start() {
    : >"$work/out"
    : >"$work/err"
    env --default-signal=HUP "$mark" TMPDIR="$work/tmp" "$OSHRUN" "$@" >"$work/out" 2>"$work/err" </dev/null &
    pid=$!
}

# ended_with STATUS: waits for the started oshrun, which must exit with STATUS.
ended_with() {
    got=0
    wait "$pid" || got=$?
    [ "$got" = "$1" ] && return 0
    fail "oshrun ended with $got, expected $1"
    sed 's/^/    /' "$work/err"
}

says() {
    grep -q -e "$1" "$work/err" && return 0
    fail "standard error lacks '$1'"
    sed 's/^/    /' "$work/err"
}

prints() {
    grep -q -e "$1" "$work/out" && return 0
    fail "standard output lacks '$1'"
    sed 's/^/    /' "$work/out" | head -20
}

# until_true SECONDS COMMAND...: repeats COMMAND until it succeeds; fails after SECONDS.
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

# Prints the processes with the mark.
marked() {
    grep -lzxF -e "$mark" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3 || true
}

nothing_left() {
    [ -z "$(marked)" ] && [ -z "$(ls -A "$work/tmp")" ]
}

# Fails if a process or a file remains after 20 seconds.
check_nothing_left() {
    until_true 20 nothing_left && return 0
    fail "$1: left behind: processes '$(marked)', files '$(find "$work/tmp" | head)'"
    for p in $(marked); do
        tr '\0' ' ' <"/proc/$p/cmdline" || true
        kill -KILL "$p" || true
    done
    rm -rf "$work/tmp"
    mkdir "$work/tmp"
}

now_ms() {
    echo $(($(date +%s%N) / 1000000))
}

finish() {
    check_nothing_left "at the end"
    [ "$failures" = 0 ] || echo "$failures checks failed"
    [ "$failures" = 0 ] || return 1
    steady_end
}
