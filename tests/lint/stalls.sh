#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# stalls.sh - each wait of the library (block_until) reports a PE that has departed, by
# block_wait.on_stall, or stalls.txt states why it need not.
set -eu
: "${top_srcdir:?}"
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
cd "$top_srcdir"
report=$(mktemp "${TMPDIR:-/tmp}/pgas-test.XXXXXX")
trap 'rm -f "$report"' EXIT

find pgas -name '*.c' | sort | xargs awk -v table="$here/stalls.txt" '
BEGIN {
    while ((getline line <table) > 0)
        if (line !~ /^#/ && split(line, part, / \| /) == 3) {
            reason[part[1] " " part[2]] = part[3]
            entries++
        }
}
# A wait is the text from "struct block_wait" with an initializer to the next ";".
FNR == 1 { text = "" }
text != "" { text = text $0 }
text == "" && /struct block_wait(\)| [a-z_]+ =) *\{/ { text = $0; line_of = FNR }
text != "" && /;$/ {
    rows++
    ready = text
    sub(/.*\.ready = /, "", ready)
    sub(/[^a-z_0-9].*/, "", ready)
    row = FILENAME " " ready
    if (text !~ /\.ready = /)
        print "FAIL: " FILENAME ":" line_of ": a wait without `ready`"
    else if (text ~ /\.on_stall = /)
        outcomes++
    else if (row in reason) {
        outcomes++
        used[row]
    } else
        print "FAIL: " FILENAME ":" line_of ": the wait for " ready \
            " has no on_stall: a PE that has departed is never reported"
    text = ""
}
END {
    for (row in reason)
        if (!(row in used))
            print "FAIL: stalls.txt: " row ": there is no such wait without on_stall"
    print "rows " rows + 0 ", outcomes " outcomes + 0
    if (rows < 25)
        print "FAIL: too few waits were found"
}' >"$report"
cat "$report"
! grep -q '^FAIL' "$report"
