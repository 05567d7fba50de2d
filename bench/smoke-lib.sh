# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# smoke-lib.sh - functions of the tests of scripts that print tables.  Sourced; a test
# writes a table to $work/table and messages to $work/err.

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
