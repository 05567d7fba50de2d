#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# headers.sh - the headers in the tree are those that the tables make, they compile without
# a warning in every C and C++ since C99 and C++11, and the generic names take and refuse
# the types that they should.
set -eu
work=$(mktemp -d "${TMPDIR:-/tmp}/pgas-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
include=$top_srcdir/include
status=0
fail() { echo "FAIL: $*"; status=1; }

for h in shmem pshmem; do
    awk -v prefix=$h -f "$top_srcdir/tools/gen-header" "$include/shmem_types.def" \
        "$include/shmem.h.in" >"$work/$h.h"
    cmp "$work/$h.h" "$include/$h.h" || fail "$h.h is not up to date: make headers"
done

printf '#include <pshmem.h>\n#include <mpp/shmem.h>\nint main(void) { return 0; }\n' >"$work/all.c"
cp "$work/all.c" "$work/all.cc"
warn="-Wall -Wextra -pedantic -Werror -fsyntax-only -I$include"
for std in c99 c11 c17; do
    # shellcheck disable=SC2086
    ${CC:-cc} -std=$std $warn "$work/all.c" || fail "shmem.h in $std"
done
if command -v g++ >/dev/null; then
    for std in c++11 c++14 c++17 c++20; do
        # shellcheck disable=SC2086
        g++ -std=$std $warn "$work/all.cc" || fail "shmem.h in $std"
    done
else
    echo "no g++: C++ not tried"
fi

# generics.c: each line "T(call)" must compile, each line "F(call)" must not.
syntax() { ${CC:-cc} -std=c11 -Werror -Wall -Wno-uninitialized -fsyntax-only -I"$include" "$1"; }
awk '!/^F\(/' "$top_srcdir/tests/abi/generics.c" >"$work/good.c"
syntax "$work/good.c" || fail "a generic call that should compile does not"
grep -c '^F(' "$top_srcdir/tests/abi/generics.c" >"$work/count"
n=0
while read -r line; do
    case $line in F\(*) ;; *) continue ;; esac
    n=$((n + 1))
    awk -v keep="$n" '/^F\(/ { if (++k != keep) next } { print }' \
        "$top_srcdir/tests/abi/generics.c" >"$work/bad.c"
    syntax "$work/bad.c" 2>/dev/null && fail "compiles but must not: $line"
done <"$top_srcdir/tests/abi/generics.c"
echo "$n calls refused of $(cat "$work/count")"
exit $status
