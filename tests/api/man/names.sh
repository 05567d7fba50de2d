#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# names.sh - each routine that libshmem.so exports and each C11 generic macro of shmem.h is
# on exactly one manual page, no page names one that does not exist, and every page is
# listed in the makefile.
set -eu
: "${top_builddir:?}" "${top_srcdir:?}"
work=$(mktemp -d "${TMPDIR:-/tmp}/pgas-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
status=0
fail() {
    echo "FAIL: $*"
    status=1
}

cd "$top_srcdir"
for page in docs/man/*.[37].md; do
    grep -q "^	$page\( \\\\\)\{0,1\}\$" docs/man/local.mk || fail "$page is not in docs/man/local.mk"
    title=$(sed -n '/^# /{s/^# \([^(]*\)(\([0-9]\)).*/\1.\2/p;q;}' "$page")
    [ "docs/man/$title.md" = "$page" ] || fail "$page has the title $title"
done
sh tools/man-names docs/man/*.3.md | sort >"$work/all"

awk '{ print $2, $3 }' "$work/all" | sort -u >"$work/page-of-name"
awk '{ print $1 }' "$work/page-of-name" | uniq -d | sed 's/^/FAIL: on two pages: /' >"$work/twice"
awk '$1 != $2 { print $1, $2 }' "$work/page-of-name" | while read -r name page; do
    [ ! -f "docs/man/$name.3.md" ] || echo "FAIL: $name is on $page, but has a page"
done >>"$work/twice"
if [ -s "$work/twice" ]; then
    cat "$work/twice"
    status=1
fi

# same WHAT FILE FILE: two sorted lists of names
same() {
    diff "$2" "$3" | grep '^[<>]' >"$work/diff" || return 0
    echo "FAIL: $1 (< the library, > the pages):"
    head -n 30 "$work/diff"
    status=1
}

# A profiling name is documented by the page of the name without the p.
nm -D --defined-only "$top_builddir/.libs/libshmem.so" |
    awk '$2 ~ /[TWD]/ { sub(/@.*/, "", $3); exported[$3] }
        END {
            for (name in exported)
                if (name !~ /^p/ || !(substr(name, 2) in exported))
                    print name
        }' | sort >"$work/exported"
[ "$(wc -l <"$work/exported")" -gt 900 ] || fail 'nm finds too few names'
awk '$1 == "names" { print $2 }' "$work/all" >"$work/pages"
same 'routines and pages differ' "$work/exported" "$work/pages"

sed -n 's/^#define \(shmem_[a-z0-9_]*\)(\.\.\.).*/\1/p' include/shmem.h | sort -u >"$work/macros"
awk '$1 == "generics" { print $2 }' "$work/all" >"$work/generics"
same 'generic macros and pages differ' "$work/macros" "$work/generics"

mkdir -p "$work/man"
sh tools/man-parts -o "$work/man" docs/man/*.[1-8].md

# References in the text and in SEE ALSO (not in code) must name pages that exist: ours, or
# these of the system.
system='pkg-config(1)'
awk '
FNR == 1 { fence = 0; page = FILENAME; sub(/.*\//, "docs/man/", page) }
/^```/ { fence = !fence }
fence || /^    / { next }
{
    gsub(/`[^`]*`/, "")
    while (match($0, /[A-Za-z_][A-Za-z0-9_+-]*\([1-8]\)/)) {
        print page, substr($0, RSTART, RLENGTH)
        $0 = substr($0, RSTART + RLENGTH)
    }
}' "$work"/man/*.md | sort -u |
    while read -r page reference; do
        name=${reference%(*}
        section=${reference#*(}
        section=${section%)}
        [ ! -f "docs/man/$name.$section.md" ] || continue
        case " $system " in *" $reference "*) continue ;; esac
        [ "$section" = 3 ] && grep -q " $name " "$work/all" ||
            echo "FAIL: $page refers to $reference: there is no such page"
    done >"$work/references"
if [ -s "$work/references" ]; then
    cat "$work/references"
    status=1
fi
echo "$(wc -l <"$work/pages") routines on $(awk '{ print $3 }' "$work/all" | sort -u | wc -l) pages"
exit $status
