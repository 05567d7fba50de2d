#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# errors.sh - the manual pages agree with the checks in the rows of the API: the section
# ERRORS of each routine's page names each parameter whose kind is checked, states that the
# library must be initialized, and, for a collective, what SHMEM_DEBUG=2 checks.  Messages
# that docs/TROUBLESHOOTING.md explains must occur in the sources.
set -eu
: "${top_builddir:?}" "${top_srcdir:?}"
work=$(mktemp -d "${TMPDIR:-/tmp}/pgas-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
builddir=$(CDPATH='' cd -- "$top_builddir" && pwd)
cd "$top_srcdir"

# Replaces api.h by a header that leaves the rows as text, with all types expanded.
mkdir -p "$work/pgas/rma"
cat >"$work/pgas/rma/api.h" <<'EOF'
#include "include/shmem_types.def"
#define ROUTINE(ret, name, bytes, where, ...) @ROW name where __VA_ARGS__ @END
#define ROUTINE_0(ret, name, where) @ROW name where @END
#define ROUTINE_CTX(ret, X, bytes, BODY, ...) \
    @ROW shmem_##X ALONE __VA_ARGS__ @END \
    @ROW shmem_ctx_##X ALONE (shmem_ctx_t, ctx, CTX), __VA_ARGS__ @END
EOF
for file in pgas/*/api_*.c pgas/*/*/api_*.c; do
    # shellcheck disable=SC2086 # CC may have arguments
    ${CC:-cc} -E -P -I"$work" -I. -I"$builddir" -Iinclude "$file" || echo "@FAIL $file"
done | tr '\n' ' ' | sed 's/@END/\
/g' | sed -n 's/.*@ROW //p; s/.*@FAIL/@FAIL/p' >"$work/rows"
mkdir -p "$work/man"
sh tools/man-parts -o "$work/man" docs/man/*.3.md
sh tools/man-names docs/man/*.3.md | sed -n 's/^names //p' >"$work/names"

awk -v man="$work/man" '
function fail(what) {
    if (!((page, what) in failed))
        print "FAIL: docs/man/" page ".3.md: ERRORS does not state " what
    failed[page, what]
}
# K(KIND, same, shown, test): kinds with the test `nothing` need no documentation.
FILENAME ~ /check\.def$/ {
    if (split($0, part, /[(,) ]+/) > 5 && part[2] == "K")
        tested[part[3]] = part[6] != "nothing"
    next
}
FILENAME ~ /names$/ { page_of[$1] = $2; next }
/^@FAIL/ { print "FAIL: no rows from " $2; next }
{
    page = page_of[$1]
    if (!(page in text)) {
        file = man "/" page ".3.md"
        text[page] = ""
        for (inside = 0; (getline line <file) > 0;)
            if (line ~ /^## /)
                inside = line == "## ERRORS"
            else if (inside)
                text[page] = text[page] " " line
        close(file)
    }
    rows++
    if (text[page] ~ /^ *As /)
        next # refers to another page
    if ($2 != "ANYTIME" && text[page] !~ /the library is not initialized/)
        fail("that the library must be initialized")
    if ($2 ~ /^BY_/ && text[page] !~ /`SHMEM_DEBUG=2` also if.* different routines/)
        fail("that PEs may have called different routines")
    n = split($0, parameter, /\), *\(/)
    for (i = 1; i <= n; i++) {
        words = split(parameter[i], part, /[ ,()]+/)
        if (part[words] == "")
            words--
        kind = part[words]
        # Numbers of elements and active sets are documented without parameter names.
        if (!tested[kind] || kind ~ /^(COUNT|SET)_|^COUNT$/)
            continue
        checked++
        if (index(text[page], "`" part[words - 1] "`") == 0)
            fail("when `" part[words - 1] "` (" kind ") is wrong")
    }
}
END {
    print rows " rows, " checked " parameters with a test"
    if (rows < 1500 || checked < 3000)
        print "FAIL: too few rows were found"
}' pgas/core/check/check.def "$work/names" "$work/rows" >"$work/report"

# Each documented message, without numbers, names and "...".
find pgas tools -name '*.c' -exec cat {} + | tr '\n' ' ' | sed 's/" *\\* *"//g' >"$work/sources"
sed -n '/^## By message/,/^## Report/s/^`/`/p' docs/TROUBLESHOOTING.md | tr '`' '\n' |
    sed -e 's/\.\.\.\|[0-9]x\?[0-9a-f]*\|\<SHMEM_XYZ\|\<WORLD\|\<shmem_[a-z_]*\|\<ucx\|\<ofi\|\<on b\>\|^PMIx: \| failed$/\n/g' |
    sed -e "s/^[ ,.')]*//" -e "s/[ ,.']*\$//" | grep ' .* ' >"$work/messages"
[ "$(wc -l <"$work/messages")" -ge 18 ] || echo "FAIL: too few messages were found" >>"$work/report"
while IFS= read -r words; do
    grep -qF -e "$words" "$work/sources" ||
        echo "FAIL: docs/TROUBLESHOOTING.md explains '$words', which is in no message"
done <"$work/messages" >>"$work/report"

cat "$work/report"
! grep -q '^FAIL' "$work/report"
