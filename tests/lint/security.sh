#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# security.sh - the tables of SECURITY.md are complete: each has exactly one row for each
# listener under each launcher, without empty cells unless nobody listens, and the tests that
# it names exist and are run (a program or script of that name is in a local.mk).
set -eu
file=$top_srcdir/SECURITY.md
[ -z "${1:-}" ] || file=$1

# table HEADING COLUMNS: its rows, one for each listener and launcher: "listener|launcher|cells".
table() {
    awk -F '|' -v heading="## $1" -v columns="$2" '
        /^## / { on = $0 == heading; n = 0 }
        on && /^\|/ && ++n > 2 {
            if (NF != columns + 2) print "!|" $0
            for (i = 1; i <= NF; i++) gsub(/^ +| +$/, "", $i)
            rest = $4
            for (i = 5; i <= columns + 1; i++) rest = rest "|" $i
            nl = split($2, listener, ", ")
            nr = split($3, launcher, ", ")
            for (i = 1; i <= nl; i++)
                for (j = 1; j <= nr; j++)
                    print listener[i] "|" launcher[j] "|" rest
        }' "$file"
}

work=$(mktemp -d "${TMPDIR:-/tmp}/pgas-security.XXXXXX")
trap 'rm -rf "$work"' EXIT
failed=0 rows=0 outcomes=0
fail() {
    echo "FAIL: $*"
    failed=1
}

# check TABLE: one row for each listener and launcher, all cells filled.
check() {
    for listener in 'front end' daemon agent PE/tcp PE/ofi PE/ucx PMIx; do
        for launcher in 'one node' vnodes ssh srun mpirun; do
            rows=$((rows + 1))
            grep -F "$listener|$launcher|" "$work/$1" | grep "^$listener|$launcher|" >"$work/row" || :
            n=$(wc -l <"$work/row")
            if [ "$n" != 1 ]; then
                fail "$1: $n rows for $listener, $launcher"
            elif grep -q "^$listener|$launcher|none|" "$work/row" || ! grep -q '||\||$' "$work/row"; then
                outcomes=$((outcomes + 1))
            else
                fail "$1: an empty cell for $listener, $launcher"
            fi
        done
    done
}

table 'Who listens' 7 >"$work/listens"
table 'What an attacker gets' 6 >"$work/gets"
check listens
check gets
! grep '^!' "$work/listens" "$work/gets" || fail 'a row has another number of cells'

find "$top_srcdir/tests" -name '*.mk' -exec cat {} + >"$work/mk"
for test in $(grep -o '`tests/[^`]*`' "$file" | tr -d '`' | sort -u); do
    rows=$((rows + 1))
    name=${test%.c}
    if [ ! -f "$top_srcdir/$test" ]; then
        fail "$test does not exist"
    elif ! grep -qF "$name" "$work/mk"; then
        fail "$test is in no local.mk"
    else
        outcomes=$((outcomes + 1))
    fi
done
echo "rows $rows, outcomes $outcomes"
exit $failed
