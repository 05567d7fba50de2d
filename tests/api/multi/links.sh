#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# links.sh - symmetric globals in executables linked with various options, with and without
# address space layout randomization.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$work/config.h"

# try NAME FLAG...: compile globals.c with the flags and run it.
try() {
    name=$1
    shift
    "$OSHCC" -D_GNU_SOURCE -I"$work" -I"$top_srcdir" -I"$top_srcdir/include" "$@" \
        "$top_srcdir/tests/api/multi/globals.c" -o "$work/globals" || {
        echo "globals.c does not compile with $*"
        exit 1
    }
    for wrapper in '' 'setarch -R'; do
        # shellcheck disable=SC2086 # a command with options, or nothing
        timeout -k 5 60 $wrapper "$OSHRUN" -n 2 "$work/globals" >"$work/out" 2>&1 || {
            echo "$name ($*)${wrapper:+ under $wrapper}: status $?"
            tail -n 20 "$work/out"
            exit 1
        }
        n=$(grep -c '^written before shmem_init$' "$work/out" || :)
        if [ "$n" -ne 2 ]; then
            echo "$name: $n lines were printed before shmem_init, expected 2"
            exit 1
        fi
    done
}

try pie -O2 -fPIE -pie
try no-pie -O2 -fno-pie -no-pie
try unoptimised -O0 -g
try no-relro -O2 -Wl,-z,norelro
try lazy -O2 -Wl,-z,lazy
[ -z "${PGAS_TEST_LONG:-}" ] || {
    try full-relro -O2 -Wl,-z,relro,-z,now
    try sections -O2 -fdata-sections -ffunction-sections -Wl,--gc-sections
}
try large-pages -O2 -Wl,-z,max-page-size=0x200000
if command -v ld.gold >/dev/null; then
    try gold -O2 -fuse-ld=gold
fi
