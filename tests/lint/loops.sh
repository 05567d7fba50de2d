#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# loops.sh - each loop over all PEs of the job or of a team, which loops.awk finds, is in
# loops.txt with the moment at which it runs and the reason why it may grow with the job.
# No operation on a PE, no first contact with one and no wait has one.
# usage: loops.sh [root of the source tree]
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=${1:-${top_srcdir:-$here/../..}}
work=$(mktemp -d "${TMPDIR:-/tmp}/pgas-loops.XXXXXX")
trap 'rm -rf "$work"' EXIT

# rows ROOT: the loops of a tree.
rows() {
    (cd "$1" && find pgas -name '*.[ch]' ! -path '*/.*' | LC_ALL=C sort |
        xargs awk -f "$here/loops.awk")
}

# outcomes ROWS TABLE: compares them; exit status 1 if they differ.
outcomes() {
    awk -F ' *[|] *' '
        BEGIN { split("init fini team collective failure report node test", w, " ")
                for (i in w) when[w[i]] = 1 }
        FNR == NR && (/^#/ || NF == 0) { next }
        FNR == NR {
            key = $1 "|" $2
            if (!($3 in when) || $4 == "" || NF != 4)
                { print "loops.txt: malformed: " $0; bad = 1 }
            table[key] = 1
            next
        }
        {
            rows++
            folder = $1
            key = $1 "|" $2
            if (!(key in table)) key = $1 "|*"
            while (!(key in table) && sub("[^/]*/?$", "", folder) && folder != "")
                key = folder "|*"
            if (!(key in table)) {
                printf "%s:%d: %s loops over all PEs, and is not in tests/lint/loops.txt\n", $1, $3, $2
                next
            }
            found[key] = 1
            outcomes++
        }
        END {
            for (key in table)
                if (!(key in found))
                    { print "loops.txt: no such loop: " key; bad = 1 }
            printf "rows %d, outcomes %d\n", rows, outcomes
            exit bad || rows != outcomes || rows == 0
        }' "$2" "$1"
}

rows "$root" >"$work/rows"
outcomes "$work/rows" "$here/loops.txt" || exit 1
[ $# = 0 ] || exit 0

# The sweep finds a new loop of each form, and a row without a loop.
mkdir -p "$work/tree/pgas/core"
head='/* SPDX-License-Identifier: BSD-3-Clause */\nint loop(void)\n{\n'
n=0
for loop in 'for (int i = 0; i < pgas_self.npes; i++)' 'for (int i = 0; i < b->size; i++)' \
    'const int n = team->npes;\nfor (int i = 0; i < n; i++)' 'while (b->node_of[pe] != node)' \
    'for (int i = 0; i < pe; i++)' 'for (int pe = 0;\n pe < (int)g->npes; pe++)'; do
    # shellcheck disable=SC2059 # \n in $loop
    printf "$head$loop\n;\n}\n" >"$work/tree/pgas/core/x.c"
    rows "$work/tree" >"$work/one"
    [ "$(cut -d'|' -f1,2 "$work/one")" = 'pgas/core/x.c | loop ' ] ||
        { echo "FAIL: not found: $loop" && n=1; }
    ! outcomes "$work/one" "$here/loops.txt" >"$work/out" || { echo "FAIL: accepted: $loop" && n=1; }
done
echo 'pgas/core/y.c | gone | init | no reason' >"$work/table"
! outcomes "$work/rows" "$work/table" >"$work/out" || { echo 'FAIL: a row without a loop' && n=1; }
exit $n
