#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# lint.sh - each manual page has the required sections in the right order, and mandoc
# reports no error in the output of gen-man.
set -eu
: "${top_srcdir:?}"
work=$(mktemp -d "${TMPDIR:-/tmp}/pgas-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
status=0
cd "$top_srcdir"

mkdir -p "$work/man"
sh tools/man-parts -o "$work/man" docs/man/*.[1-8].md
awk '
FNR == 1 { fence = 0 }
length($0) > 90 && !/^[#@|]/ { print FILENAME ":" FNR ": longer than 90 columns" }
/^```/ { fence = !fence; next }
!fence && gsub(/`/, "&") % 2 { print FILENAME ":" FNR ": a code span ends on the next line" }
' docs/man/*.[1-8].md docs/man/parts.md >"$work/report"

(cd "$work/man" && awk '
BEGIN {
    n = split("SYNOPSIS,DESCRIPTION,ARGUMENTS,RETURN VALUE,ERRORS,ORDERING,EXAMPLE," \
        "NOTES,SEE ALSO,SPECIFICATION", order, ",")
    for (i = 1; i <= n; i++)
        place[order[i]] = i
    split("SYNOPSIS,DESCRIPTION,ERRORS,EXAMPLE,SEE ALSO,SPECIFICATION", must, ",")
}
function finish_page(  i) {
    for (i in must)
        if (page != "" && !(must[i] in seen))
            print "docs/man/" page ": no section " must[i]
    split("", seen)
    last = fence = 0
}
FNR == 1 {
    finish_page()
    page = substr(FILENAME, 3)
}
/^```/ { fence = !fence }
/^## / && !fence {
    section = substr($0, 4)
    if (!(section in place))
        print "docs/man/" page ":" FNR ": unknown section " section
    else if (place[section] <= last)
        print "docs/man/" page ":" FNR ": section " section " is out of order"
    last = place[section]
    seen[section] = 1
}
END { finish_page() }' ./*.3.md) >>"$work/report"

# A collective of 0 elements does not synchronize: the pages must state this.
for name in alltoall alltoalls broadcast collect reduce scan; do
    awk '/^## / { inside = /^## ARGUMENTS/ } inside { text = text " " $0 }
        END { exit text !~ /[Ww]ith 0 .*does not synchronize/ }' \
        "$work/man/shmem_$name.3.md" ||
        echo "docs/man/shmem_$name.3.md: ARGUMENTS does not state that a call with 0" \
            "elements does not synchronize the PEs"
    ! grep -n 'only meet' "docs/man/shmem_$name.3.md" ||
        echo "docs/man/shmem_$name.3.md: promises that a call with 0 synchronizes"
done >>"$work/report"

if command -v mandoc >/dev/null; then
    for page in docs/man/*.[1-8].md; do
        base=$(basename "$page" .md)
        made=$top_builddir/docs/man/$base
        if [ -f "$made" ] && [ "$made" -nt "$page" ]; then
            cp "$made" "$work/$base"
        else
            sh tools/gen-man 0 "$page" >"$work/$base" || echo "$page: gen-man fails"
        fi
    done >>"$work/report"
    (cd "$work" && mandoc -Tlint -W warning ./*.[1-8]) |
        sed -n '/missing date/!s|^mandoc: \./\([^:]*\)|docs/man/\1.md (generated)|p' >>"$work/report"
else
    echo 'mandoc is not installed: that part was skipped'
fi
if [ -s "$work/report" ]; then
    cat "$work/report"
    status=1
fi
exit $status
