#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# counters.sh - every counter of at most 32 bits, and every comparison by distance, has a row
# in counters.txt with its greatest distance and the reason; counters.awk derives them.
# usage: counters.sh [root of the source tree]
set -euf

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=${1:-${top_srcdir:-$here/../..}}
work=$(mktemp -d "${TMPDIR:-/tmp}/pgas-counters.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$root"

find pgas compat -name '*.[ch]' | sort >"$work/files"
# shellcheck disable=SC2046 # names of our own files
awk -f "$here/counters.awk" $(cat "$work/files") $(cat "$work/files") >"$work/derived"
# A kind and a limit; a counter needs its reason, too.
awk -F ' [|] ?' '
    /^#/ { next }
    { key = $1 " | " $2 }
    !($3 ~ /^(counter|futex|gauge|flag|value)$/) || $4 == "" || ($3 ~ /^(counter|futex)$/ && $5 == "") {
        print "counters.txt: no outcome: " key >"/dev/stderr"
        next
    }
    { print key }' "$here/counters.txt" >"$work/listed"

outcomes=0 rows=0
while IFS= read -r row; do
    rows=$((rows + 1))
    if grep -qxF -e "$row" "$work/listed"; then
        outcomes=$((outcomes + 1))
    else
        echo "no outcome: $row"
    fi
done <"$work/derived"
stale=$(grep -vxF -f "$work/derived" "$work/listed" | sed 's/^/stale: /')
repeated=$(sort "$work/listed" | uniq -d | sed 's/^/twice: /')
[ -z "$stale$repeated" ] || echo "$stale$repeated"
echo "counters: rows $rows, outcomes $outcomes"
[ "$rows" -gt 100 ] && [ "$rows" -eq "$outcomes" ] && [ -z "$stale$repeated" ]
