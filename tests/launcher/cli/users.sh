#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# users.sh - how users compile: AddressSanitizer finds no leak in a correct program, and the
# headers cause no warning of old-style casts in C++.
set -eu
: "${OSHRUN:?}" "${OSHCC:?}" "${top_srcdir:?}"
[ -z "${SANITIZED:-}" ] || { echo 'the library itself has a sanitizer'; exit 77; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/pgas-users.XXXXXX")
trap 'rm -rf "$dir"' EXIT
unset LSAN_OPTIONS
failed=0
fail() {
    echo "FAIL: $*"
    failed=1
}

printf '%s\n' '#include <shmem.h>' \
    'int main(void) { shmem_init(); shmem_barrier_all(); shmem_finalize(); return 0; }' \
    >"$dir/leak.c"
if "$OSHCC" -fsanitize=address "$dir/leak.c" -o "$dir/leak" 2>"$dir/log"; then
    timeout 60 "$OSHRUN" -n 2 "$dir/leak" >"$dir/log" 2>&1 || { cat "$dir/log"; fail 'a leak'; }
else
    echo 'the compiler has no AddressSanitizer: skipped'
fi

printf '%s\n' '#include <shmem.h>' 'shmem_team_t a = SHMEM_TEAM_INVALID, b = SHMEM_TEAM_WORLD;' \
    'shmem_ctx_t c = SHMEM_CTX_DEFAULT, d = SHMEM_CTX_INVALID;' >"$dir/cast.cc"
${CXX:-c++} -std=c++11 -Wold-style-cast -Werror -c -I "$top_srcdir/include" "$dir/cast.cc" \
    -o "$dir/cast.o" || fail 'C++ warns of casts in shmem.h'
exit "$failed"
