#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# generics.sh - every C11 generic accepts the types of the specification and has the right
# result type; other types do not compile.
set -eu
: "${top_srcdir:?}"
work=$(mktemp -d "${TMPDIR:-/tmp}/pgas-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
api=$top_srcdir/tests/api/abi/api-1.6.txt
status=0
fail() { echo "FAIL: $*"; status=1; }

awk -F'|' -v want=accepted -f "$top_srcdir/tests/api/abi/generics.awk" "$api" >"$work/accepted.c"
awk -F'|' -v want=refused -f "$top_srcdir/tests/api/abi/generics.awk" "$api" >"$work/refused.c"
awk '!/^F\(/' "$top_srcdir/tests/api/abi/generics.c" >"$work/good.c"
awk '!/^[TD]\(/' "$top_srcdir/tests/api/abi/generics.c" >"$work/bad.c"

syntax() { # compiler, arguments
    "$@" -std=c11 -fsyntax-only -I"$top_srcdir/include" >"$work/errors" 2>&1
}

# all_good COMPILER ARGUMENT...: compiles without warnings.
all_good() {
    # -Wno-uninitialized: the code is compiled, but never run.
    syntax "$@" -Wall -Wextra -Wno-uninitialized -Werror || {
        fail "$*: calls that must compile do not:"
        head -20 "$work/errors"
    }
}

# all_bad PATTERN FILE COMPILER...: one compilation reports an error in each line of FILE
# that matches PATTERN.
all_bad() { # pattern file compiler...
    pattern=$1 file=$2
    shift 2
    syntax "$@" "$work/$file" || :
    sed -n "s/^.*$file:\([0-9]*\):[0-9]*: \(fatal \)\{0,1\}error:.*/\1/p" "$work/errors" |
        sort -u >"$work/lines"
    awk -v pattern="$pattern" 'NR == FNR { bad[$1]; next }
        $0 ~ pattern { n++; if (!(FNR in bad)) { print "compiles but must not: " $0; missed++ } }
        END { print n - missed " of " n + 0 " calls refused"; exit !n || missed }' \
        "$work/lines" "$work/$file" >"$work/found" || fail "$*"
    tail -20 "$work/found"
}

for compiler in "${CC:-cc}" clang; do
    command -v "${compiler%% *}" >/dev/null || continue
    # Report errors at the line of the call, not of the macro, and without a limit.
    case $(${compiler%% *} --version) in
    *clang*) all=-ferror-limit=0 ;;
    *) all=-ftrack-macro-expansion=0 ;;
    esac
    echo "$compiler: $(grep -c Static_assert "$work/accepted.c") calls to accept"
    # shellcheck disable=SC2086 # CC may have arguments
    {
        all_good $compiler "$work/accepted.c"
        all_good $compiler "$work/good.c"
        all_good $compiler -DSHMEM_NO_DEPRECATED "$work/good.c"
        all_bad '^\(void\)' refused.c $compiler -w $all
        all_bad '^F\(' bad.c $compiler -Werror -Wno-unused-value $all
    }
done
exit $status
