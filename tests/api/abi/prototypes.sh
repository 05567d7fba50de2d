#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# prototypes.sh - shmem.h and pshmem.h declare every routine of the specification with its
# types and parameter names, and otherwise only our extensions.
set -eu
: "${top_srcdir:?}"
work=$(mktemp -d "${TMPDIR:-/tmp}/pgas-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/api/abi/lists.sh
. "$top_srcdir/tests/api/abi/lists.sh"
status=0

# Textual comparison, including the names of parameters
awk -F'|' '$2 == "C" || $2 == "OLD" { print $5 }' "$api" | sort >"$work/spec"
list_cache_routines >"$work/ours"
list_extensions >>"$work/ours"
compare() { # header
    diff "$work/spec" "$work/declared" >"$work/diff" || :
    sed -n '/^[<>]/p' "$work/diff" | grep -v -w -F -f "$work/ours" >"$work/bad" || return 0
    echo "the specification (<) and $1 (>) differ:"
    head -20 "$work/bad"
    status=1
}
declarations shmem.h shmemx.h | grep -v '[ *]p[a-z0-9_]*(' >"$work/declared"
compare shmem.h
grep -c . "$work/declared" >"$work/count"
declarations pshmem.h shmemx.h |
    sed -n 's/^\([^(]*[ *]\)p\(\(_\|sh\|start\)[a-z0-9_]*(\)/\1\2/p' | sort >"$work/declared"
compare pshmem.h
while IFS= read -r name; do
    grep -q "[ *]$name(" "$work/declared" || { echo "no p$name is declared"; status=1; }
done <"$work/ours"

# By the compiler: each function can be assigned to a pointer of the specification's type.
awk -F'|' '
    BEGIN { print "#include <pshmem.h>" }
    $2 == "C" || $2 == "OLD" {
        print pointer($5, $1)
        print pointer($5, "p" $1)
    }
    function pointer(prototype, name,    at) {
        at = index(prototype, "(")
        return result(prototype) "(*const to_" name ")" substr(prototype, at) " = " name ";"
    }
    function result(prototype) {
        sub(/[a-z0-9_]+\(.*/, "", prototype)
        return prototype
    }' "$api" >"$work/pointers.c"
fits() { # compiler, arguments
    command -v "${1%% *}" >/dev/null || return 0
    compiler=$1
    shift
    # shellcheck disable=SC2086 # CC may have arguments
    $compiler -DSHMEM_NO_GENERICS -Wall -Wextra -Werror -fsyntax-only \
        -I"$top_srcdir/include" "$@" "$work/pointers.c" >"$work/errors" 2>&1 || {
        echo "$compiler finds other types than the specification's:"
        head -20 "$work/errors"
        status=1
    }
}
fits "${CC:-cc}" -std=c11 -pedantic
fits clang -std=c11 -pedantic
fits g++ -x c++ -std=c++11
fits clang++ -x c++ -std=c++11 -Wno-unused-const-variable
echo "$(cat "$work/count") routines declared, $(wc -l <"$work/pointers.c") lines of pointers"
exit $status
