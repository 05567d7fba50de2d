# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# smoke-lib.sh - functions of the tests of scripts that print tables.  Sourced; a test
# writes a table to $work/table and messages to $work/err; $script is the name of the script.

: "${top_builddir:?}" "${top_srcdir:?}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$top_builddir"
here=$top_srcdir/bench
: >"$work/err"

# wrong MESSAGE: the test fails.
wrong() {
    echo "$1"
    cat "$work/table" "$work/err"
    exit 1
}

# rows N PATTERN: fails unless N lines of the table match PATTERN.
rows() {
    [ "$(grep -c -e "$2" "$work/table")" = "$1" ] || wrong "expected $1 lines like '$2'"
}

# rejects MESSAGE OPTION...: the script bench/$script exits with status 2 and prints MESSAGE.
rejects() {
    message=$1 status=0
    shift
    timeout -k 5 100 sh "$here/$script" "$@" >"$work/table" 2>"$work/err" </dev/null ||
        status=$?
    [ $status = 2 ] || wrong "$script $* ended with status $status, not 2"
    grep -q -e "$message" "$work/err" || wrong "$script $* does not print: $message"
}
