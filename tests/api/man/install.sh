#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# install.sh - `make install` installs a manual page for each name: the page itself or a
# .so link to it; `make uninstall` removes all of them.
set -eu
: "${top_builddir:?}" "${top_srcdir:?}"
work=$(mktemp -d "${TMPDIR:-/tmp}/pgas-man.XXXXXX")
trap 'rm -rf "$work"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL
failed=0
fail() {
    echo "FAIL: $*"
    failed=1
}
make_in() { timeout 300 make -s -C "$top_builddir" DESTDIR="$work/a place" "$@" >"$work/log" 2>&1; }

make_in install-man install-man-links || { tail "$work/log"; fail 'make install-man'; }
man3=$(find "$work/a place" -type d -name man3)
sh "$top_srcdir/tools/man-names" "$top_srcdir"/docs/man/*.3.md >"$work/names"
while read -r _ name page; do
    [ -f "$man3/$name.3" ] || fail "no page $name.3"
    [ "$name" != "$page" ] || continue
    read -r line <"$man3/$name.3" && [ "$line" = ".so man3/$page.3" ] ||
        fail "$name.3 does not refer to $page.3"
done <"$work/names"
for page in "$top_srcdir"/docs/man/*.[0-9].md; do
    page=$(basename "$page" .md)
    [ -s "${man3%3}${page##*.}/$page" ] || fail "no page $page"
done

if command -v mandoc >/dev/null; then
    (cd "${man3%/man3}" && mandoc -Tascii man3/shmem_long_put.3) >"$work/page"
    grep -q '^ *shmem_put, .* copy data' "$work/page" || fail 'man shmem_long_put'
fi

make_in uninstall-man uninstall-man-links || { tail "$work/log"; fail 'make uninstall-man'; }
[ -z "$(find "$work/a place" -type f)" ] || fail "left: $(find "$work/a place" -type f | head)"
exit $failed
