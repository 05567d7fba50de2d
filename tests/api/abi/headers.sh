#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# headers.sh - the headers are those that the tables generate; they compile
# without warnings as every C since C99 and every C++ since C++11, with and without
# deprecated names; every constant, handle and type of the specification is defined.
set -eu
: "${top_srcdir:?}"
work=$(mktemp -d "${TMPDIR:-/tmp}/pgas-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/api/abi/lists.sh
. "$top_srcdir/tests/api/abi/lists.sh"
include=$top_srcdir/include
status=0
fail() { echo "FAIL: $*"; status=1; }

for header in shmem.h pshmem.h shmemx.h; do
    "$top_srcdir/tools/gen-headers" "$header" "$work"
    cmp "$work/$header" "$include/$header" || fail "$header is not up to date: run make"
done

# -- every language standard; each header alone, and all together twice ----------------------
for h in shmem.h pshmem.h shmemx.h mpp/shmem.h mpp/shmemx.h shmem.h pshmem.h shmemx.h; do
    echo "#include <$h>"
done >"$work/all.c"
echo '#include <pshmem.h>' >"$work/pshmem.c"
echo '#include <mpp/shmemx.h>' >"$work/shmemx.c"
tried=
try() { # language of -x, compiler, standards...
    language=$1 compiler=$2
    shift 2
    command -v "${compiler%% *}" >/dev/null || { echo "no $compiler: not tried"; return 0; }
    for std in "$@"; do
        without=
        case $std in
        c11 | c++17 | "${PGAS_TEST_LONG:+$std}") without='-DSHMEM_NO_DEPRECATED -DSHMEM_NO_GENERICS' ;;
        esac
        for defines in '' $without; do
            # shellcheck disable=SC2086 # CC may have arguments
            $compiler -x "$language" "-std=$std" $defines -Wall -Wextra -pedantic -Werror \
                -fsyntax-only -I"$include" "$work/all.c" "$work/pshmem.c" \
                "$work/shmemx.c" || fail "$compiler -std=$std $defines"
        done
        tried="$tried $compiler:$std"
    done
}
try c "${CC:-cc}" c99 c11 c17
try c clang c99 c11 c17
try c++ g++ c++11 c++14 c++17 c++20
try c++ clang++ c++11 c++14 c++17 c++20
echo "tried:$tried"

# -- macros that identify this implementation to other packages: docs/PORTING.md --------------
cat >"$work/ours.c" <<'END'
#include <shmem.h>
#include <string.h>
#if !defined PGAS_SHMEM_NUMVERSION || !defined SHMEM_H
#error "neither the vendor macro nor the include guard"
#endif
int main(void)
{
    return strcmp(SHMEM_VENDOR_STRING, "pgas") != 0 || PGAS_SHMEM_NUMVERSION != VERSION;
}
END
version=$(sed -n 's/^AC_INIT(.*\[\([0-9]*\)\.\([0-9]*\)\.\([0-9]*\)\].*/10000*\1+100*\2+\3/p' \
    "$top_srcdir/configure.ac")
# shellcheck disable=SC2086 # CC may have arguments
${CC:-cc} -Wall -Werror "-DVERSION=$version" -I"$include" "$work/ours.c" -o "$work/ours" &&
    "$work/ours" || fail "the vendor macros are not those of docs/PORTING.md and of version $version"

# -- constants, handles, types -----------------------------------------------------------------
macros() {
    # shellcheck disable=SC2086 # CC may have arguments
    echo '#include <shmem.h>' | ${CC:-cc} -std=c99 "$@" -E -dM -I"$include" -x c - |
        awk '/^#define/ { sub(/\(.*/, "", $2); print $2 }' | sort
}
list_constants() { awk -F'|' -v want="$1" '
    ($2 == "CONST" || $2 == "HANDLE") && $4 ~ want { print $1 }' "$api" | sort -u; }
macros >"$work/macros"
list_constants . | comm -23 - "$work/macros" >"$work/missing"
[ ! -s "$work/missing" ] || fail "not defined: $(tr '\n' ' ' <"$work/missing")"
echo "$(list_constants . | wc -l) constants and handles"

awk -F'|' '
    BEGIN { print "#include <shmem.h>\nint main(void)\n{" }
    # An integer constant must be a constant expression.
    $2 == "CONST" && $1 !~ /INVALID|STRING/ { print "enum { is_" NR " = (int)" $1 " };" }
    $2 == "HANDLE" { print $5 " handle_" NR " = " $1 "; if (!(handle_" NR " == " $1 ")) return 1;" }
    $2 == "TYPE" { print $1 " type_" NR "; (void)type_" NR ";" }
    END {
        print "shmem_team_config_t t = {0}; int *n = &t.num_contexts;"
        print "shmem_ctx_session_config_t s = {0}; size_t *z = &s.total_ops;"
        print "const char name[SHMEM_MAX_NAME_LEN] = SHMEM_VENDOR_STRING;"
        print "return !n || !z || !name[0] || SHMEM_TEAM_WORLD == SHMEM_TEAM_INVALID;\n}"
    }' "$api" >"$work/uses.c"
# shellcheck disable=SC2086 # CC may have arguments
${CC:-cc} -std=c99 -pedantic -Wall -Werror -Wno-uninitialized -I"$include" \
    "$work/uses.c" -o "$work/uses" || fail "a constant, handle or type cannot be used"
"$work/uses" || fail "a handle does not equal itself"

# -- names that remain with SHMEM_NO_DEPRECATED --------------------------------------------------
DEFINES=-DSHMEM_NO_DEPRECATED
declarations shmem.h pshmem.h shmemx.h |
    sed 's/(.*//; s/.*[ *]//; s/^p\(_\|sh\|start\)/\1/' | sort -u >"$work/declared"
{
    list_deprecated
    list_cache_routines
} | sort >"$work/deprecated"
comm -12 "$work/deprecated" "$work/declared" >"$work/left"
[ ! -s "$work/left" ] ||
    fail "declared with SHMEM_NO_DEPRECATED: $(tr '\n' ' ' <"$work/left")"
list_routines | comm -23 - "$work/deprecated" | comm -23 - "$work/declared" >"$work/lost"
[ ! -s "$work/lost" ] || fail "not declared with SHMEM_NO_DEPRECATED: $(head -5 "$work/lost")"
macros "$DEFINES" >"$work/macros"
list_constants yes | comm -12 - "$work/macros" >"$work/left"
[ ! -s "$work/left" ] ||
    fail "defined with SHMEM_NO_DEPRECATED: $(tr '\n' ' ' <"$work/left")"
list_constants no | comm -23 - "$work/macros" >"$work/lost"
[ ! -s "$work/lost" ] || fail "not defined with SHMEM_NO_DEPRECATED: $(cat "$work/lost")"
macros -std=c11 "$DEFINES" >"$work/macros"
awk -F'|' '$2 == "C11" && $4 != "no" { print $1 }' "$api" | sort -u |
    comm -12 - "$work/macros" >"$work/left"
[ ! -s "$work/left" ] || fail "generics left with SHMEM_NO_DEPRECATED: $(cat "$work/left")"
echo "$(wc -l <"$work/deprecated") deprecated routines can be left out"
exit $status
