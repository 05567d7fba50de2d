#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# core_size.sh - a core file of a small program is small: by the mappings that it would
# contain, and by one that is written, if the kernel writes them into a plain file here.
set -eu
. "$top_srcdir/tests/bugs/lib.sh"
unset SHMEM_CORE

# dumps KIB: the core file of PE 0 of two would contain at most so much.
dumps() {
    run 0 -n 2 "$bugs/core_size" dump
    kib=$(cat "$work/out")
    [ "${kib:-1000000000}" -le "$1" ] ||
        fail "SHMEM_CORE=${SHMEM_CORE:-}: core files contain $kib KiB of symmetric memory"
}
dumps 3000
SHMEM_CORE=small
export SHMEM_CORE
dumps 1000
SHMEM_CORE=full dumps 1000000000
[ "$kib" -ge 1000000 ] || fail "SHMEM_CORE=full: core files contain only $kib KiB"
SHMEM_CORE=large run_fails -n 1 "$bugs/core_size" dump
says 'SHMEM_CORE="large" is not valid'
[ "$failures" = 0 ] || finish # a core file would be huge

pattern=$(cat /proc/sys/kernel/core_pattern)
case $pattern in
'' | '|'* | */*) echo "not tried: core_pattern is '$pattern'" && finish && exit 0 ;;
esac
[ -z "${SANITIZED:-}" ] || { finish && exit 0; } # its shadow memory is in it
ulimit -c unlimited 2>/dev/null || { echo 'not tried: ulimit -c' && finish && exit 0; }

program=$(cd "$bugs" && pwd)/core_size
OSHRUN=$(cd "$(dirname "$OSHRUN")" && pwd)/$(basename "$OSHRUN")

# crash TEXT...: PE 0 leaves a small core file with these texts; in $core.
crash() {
    rm -rf "$work/cwd"
    mkdir "$work/cwd"
    (cd "$work/cwd" && job -n 2 "$program" crash)
    core=$(find "$work/cwd" -type f)
    [ -s "${core:-/}" ] || { fail 'there is no core file' && return; }
    size=$(wc -c <"$core")
    [ "$size" -lt 20000000 ] || fail "SHMEM_CORE=$SHMEM_CORE: the core file has $size bytes"
    for text; do
        grep -q -a -e "$text" "$core" || fail "SHMEM_CORE=$SHMEM_CORE: no '$text' in the core file"
    done
}
SHMEM_CORE=heap
crash 'a text of the heap: 4711' 'a text of the globals: 0815'
SHMEM_CORE=small
crash 'a text of the globals: 0815'
finish
