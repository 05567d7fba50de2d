#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# names.sh - libshmem.so exports the routines of the specification, our extensions and no
# other name: each x as a weak and px as a strong symbol with the same address.
set -eu
: "${top_srcdir:?}" "${top_builddir:?}"
work=$(mktemp -d "${TMPDIR:-/tmp}/pgas-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
lib=$top_builddir/.libs/libshmem.so
# shellcheck source=tests/api/abi/lists.sh
. "$top_srcdir/tests/api/abi/lists.sh"
status=0

{
    list_routines
    list_cache_routines
    list_extensions
} | sort >"$work/names"
sed 's/^/p/' "$work/names" | sort >"$work/pnames"
[ "$(list_routines | wc -l)" -eq 1788 ] ||
    { echo "$api has $(list_routines | wc -l) routines and not 1788"; exit 1; }

exported() { # letters of nm
    nm -D --defined-only "$lib" |
        awk -v type="$1" '$2 ~ type { sub(/@.*/, "", $3); print $3 }' | sort
}
exported W >"$work/weak"
exported T >"$work/strong"
exported '[^WTA]' >"$work/other"

same() { # what list library
    diff "$2" "$3" >"$work/diff" && return
    echo "$1: $(grep -c '^<' "$work/diff") only in the list (<)," \
        "$(grep -c '^>' "$work/diff") only in the library (>)"
    sed -n '/^[<>]/p' "$work/diff" | head -20
    status=1
}
same "the list and the weak names differ" "$work/names" "$work/weak"
same "the list with a p and the strong names differ" "$work/pnames" "$work/strong"
if [ -s "$work/other" ]; then
    echo "exported data: $(tr '\n' ' ' <"$work/other")"
    status=1
fi

# The weak and the strong symbol have the same address.
nm -D --defined-only "$lib" | awk '
    { sub(/@.*/, "", $3); at[$3] = $1; type[$3] = $2 }
    END {
        for (name in at)
            if (type[name] == "W" && at[name] != at["p" name]) {
                print name " is not p" name
                bad = 1
            }
        exit bad
    }' || status=1
echo "$(wc -l <"$work/weak") names and $(wc -l <"$work/strong") for profiling"
exit $status
