#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tidy.sh - static analysis (clang-tidy and the clang analyser): no warning in the files that
# parse input of users, files and other processes, and in the allocator; check --long
# analyses all of pgas and tools.
set -eu
command -v clang-tidy >/dev/null || { echo "skipped: clang-tidy is not installed"; exit 77; }
cd "$top_srcdir"
checks='-*,clang-analyzer-core.*,clang-analyzer-unix.*,clang-analyzer-deadcode.*'
checks=$checks,clang-analyzer-nullability.*,bugprone-macro-repeated-side-effects
checks=$checks,bugprone-misplaced-widening-cast,bugprone-sizeof-expression
checks=$checks,bugprone-swapped-arguments,bugprone-signed-char-misuse,bugprone-infinite-loop
checks=$checks,bugprone-not-null-terminated-result,bugprone-unused-return-value
checks=$checks,bugprone-undefined-memory-manipulation,bugprone-posix-return
checks=$checks,bugprone-suspicious-enum-usage,bugprone-suspicious-memset-usage
checks=$checks,bugprone-suspicious-missing-comma,bugprone-suspicious-semicolon,cert-err34-c

# The files that define these functions.
functions='env_load hosts_from_list hosts_from_file options_read bootstrap_parse
rank_file_read select_table_read hook_check alloc_acquire link_open'
if [ -n "${PGAS_TEST_LONG:-}" ]; then
    files=$(find pgas tools -name '*.c' ! -name 'op_*' ! -name '*_absent.c')
else
    files=
    for function in $functions; do
        file=$(grep -lE "^[a-z].*[ *]$function\(" $(find pgas tools -name '*.c') | head -n 1)
        [ -n "$file" ] || { echo "FAIL: no file defines $function"; exit 1; }
        files="$files $file"
    done
fi
flags=$(pkg-config --cflags pmix libevent_core hwloc nettle 2>/dev/null)
for library in libfabric ucx; do
    flags="$flags $(pkg-config --cflags "$library" 2>/dev/null || :)"
done
# shellcheck disable=SC2086 # lists
clang-tidy -quiet --warnings-as-errors='*' -checks="$checks" $files -- -std=gnu11 \
    -I "$top_builddir" -I . -I include $flags -DPGAS_SYSCONFDIR='"/etc"' 2>/dev/null
