#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# lint.sh - each manual page has the sections of its kind in their order, and mandoc finds
# no mistake in what gen-man makes of it.
set -eu
: "${top_srcdir:?}"
work=$(mktemp -d "${TMPDIR:-/tmp}/pgas-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
status=0
cd "$top_srcdir"

mkdir -p "$work/man"
sh tools/man-parts -o "$work/man" docs/man/*.[1-8].md
for page in docs/man/*.[1-8].md docs/man/parts.md; do
    awk -v page="$page" '
    length($0) > 90 && !/^[#@|]/ { print page ":" FNR ": longer than 90 columns" }
    /^```/ { fence = !fence; next }
    !fence && gsub(/`/, "&") % 2 { print page ":" FNR ": a code span ends on the next line" }
    ' "$page"
done >"$work/report"

for page in docs/man/*.3.md; do
    awk -v page="$page" '
    BEGIN {
        n = split("SYNOPSIS,DESCRIPTION,ARGUMENTS,RETURN VALUE,ERRORS,ORDERING,EXAMPLE," \
            "NOTES,SEE ALSO,SPECIFICATION", order, ",")
        for (i = 1; i <= n; i++)
            place[order[i]] = i
    }
    /^```/ { fence = !fence }
    /^## / && !fence {
        section = substr($0, 4)
        if (!(section in place))
            print page ":" FNR ": unknown section " section
        else if (place[section] <= last)
            print page ":" FNR ": section " section " is out of order"
        last = place[section]
        seen[section] = 1
    }
    END {
        split("SYNOPSIS,DESCRIPTION,ERRORS,EXAMPLE,SEE ALSO,SPECIFICATION", must, ",")
        for (i in must)
            if (!(must[i] in seen))
                print page ": no section " must[i]
    }' "$work/man/${page##*/}"
done >>"$work/report"

# A collective of no elements need not synchronize: no page may promise that it does.
for name in alltoall alltoalls broadcast collect reduce scan; do
    awk '/^## / { inside = /^## ARGUMENTS/ } inside { text = text " " $0 }
        END { exit text !~ /[Ww]ith 0 .*does not synchronize/ }' \
        "$work/man/shmem_$name.3.md" ||
        echo "docs/man/shmem_$name.3.md: ARGUMENTS does not say that a call with 0" \
            "elements does not synchronize the PEs"
    ! grep -n 'only meet' "docs/man/shmem_$name.3.md" ||
        echo "docs/man/shmem_$name.3.md: promises that a call with 0 synchronizes"
done >>"$work/report"

if command -v mandoc >/dev/null; then
    for page in docs/man/*.[1-8].md; do
        base=$(basename "$page" .md)
        sh tools/gen-man 0 "$page" >"$work/$base" || echo "$page: gen-man fails"
        mandoc -Tlint -W warning "$work/$base" |
            sed -n "/missing date/!s|^mandoc: [^:]*|$page (generated)|p"
    done >>"$work/report"
else
    echo 'mandoc is not here: that part was skipped'
fi
if [ -s "$work/report" ]; then
    cat "$work/report"
    status=1
fi
exit $status
