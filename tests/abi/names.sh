#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# names.sh - libshmem.so exports the functions that shmem.h and pshmem.h declare, and no
# other name: shmem_x weak, pshmem_x strong, both the same code.
set -eu
work=$(mktemp -d "${TMPDIR:-/tmp}/pgas-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
lib=$top_builddir/.libs/libshmem.so
include=$top_srcdir/include

# Names that stand before a '(' at the beginning of a declaration.
declared() {
    sed -n '/^#/d; s/^[A-Za-z_].*[ *]\(p\{0,1\}shmem_[a-z0-9_]*\)(.*/\1/p' "$1" | sort -u
}
declared "$include/shmem.h" >"$work/shmem"
declared "$include/pshmem.h" >"$work/pshmem"
test "$(wc -l <"$work/shmem")" -gt 900 ||
    { echo "only $(wc -l <"$work/shmem") names found in shmem.h"; exit 1; }

nm -D --defined-only "$lib" | awk '$2 == "W" { print $3 }' | sed 's/@.*//' | sort >"$work/weak"
nm -D --defined-only "$lib" | awk '$2 == "T" { print $3 }' | sed 's/@.*//' | sort >"$work/strong"
nm -D --defined-only "$lib" | awk '$2 !~ /[WTA]/ { print $3 }' >"$work/other"

status=0
same() { # what file file
    diff "$2" "$3" >"$work/diff" || {
        echo "$1 (< header, > library):"
        head -20 "$work/diff"
        status=1
    }
}
same "shmem.h and the weak names differ" "$work/shmem" "$work/weak"
same "pshmem.h and the strong names differ" "$work/pshmem" "$work/strong"
sed 's/^/p/' "$work/shmem" | sort >"$work/expected"
same "pshmem.h is not shmem.h with a p" "$work/expected" "$work/pshmem"
if [ -s "$work/other" ]; then
    echo "exported data: $(tr '\n' ' ' <"$work/other")"
    status=1
fi

# The weak name and the strong one are one address.
nm -D --defined-only "$lib" | awk '
    { sub(/@.*/, "", $3); at[$3] = $1 }
    END {
        for (name in at)
            if (name ~ /^shmem_/ && at[name] != at["p" name]) {
                print name " is not p" name
                bad = 1
            }
        exit bad
    }' || status=1
echo "$(wc -l <"$work/weak") shmem_ and $(wc -l <"$work/strong") pshmem_ names"
exit $status
