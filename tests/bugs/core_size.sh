#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# core_size.sh - the core file of a small program is small: checks the mappings that it
# would contain, and the size of a real one if core_pattern is the name of a plain file.
set -eu
. "$top_srcdir/tests/bugs/lib.sh"
unset SHMEM_CORE

# core_limit KIB: a core file of PE 0 would contain at most KIB of symmetric memory.
core_limit() {
    run 0 -n 2 "$bugs/core_size" dump
    kib=$(cat "$work/out")
    [ "${kib:-1000000000}" -le "$1" ] ||
        fail "SHMEM_CORE=${SHMEM_CORE:-}: core files contain $kib KiB of symmetric memory"
}
core_limit 3000
SHMEM_CORE=small
export SHMEM_CORE
core_limit 1000
SHMEM_CORE=full core_limit 1000000000
[ "$kib" -ge 1000000 ] || fail "SHMEM_CORE=full: core files contain only $kib KiB"
SHMEM_CORE=large run_fails -n 1 "$bugs/core_size" dump
says 'SHMEM_CORE="large" is not valid'
[ "$failures" = 0 ] || finish # a core file would be huge

pattern=$(cat /proc/sys/kernel/core_pattern)
case $pattern in
'' | '|'* | */*) echo "not tried: core_pattern is '$pattern'" && finish && exit 0 ;;
esac
[ -z "${SANITIZED:-}" ] || { finish && exit 0; } # core files include the shadow memory
ulimit -c unlimited 2>/dev/null || { echo 'not tried: ulimit -c' && finish && exit 0; }

program=$(cd "$bugs" && pwd)/core_size
OSHRUN=$(cd "$(dirname "$OSHRUN")" && pwd)/$(basename "$OSHRUN")

# crash TEXT...: PE 0 dumps a small core file ($core), which contains every TEXT.
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
