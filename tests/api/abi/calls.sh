#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# calls.sh - every routine of the specification can be called, by its own name and by its
# profiling name, in jobs of one and of two PEs, without and with SHMEM_DEBUG=2.
set -eu
: "${OSHCC:?}" "${OSHRUN:?}" "${top_srcdir:?}"
work=$(mktemp -d "${TMPDIR:-/tmp}/pgas-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/api/abi/lists.sh
. "$top_srcdir/tests/api/abi/lists.sh"
here=$top_srcdir/tests/api/abi
failed=0

awk -F'|' -v p= -f "$here/calls.awk" "$api" >"$work/calls.def"
awk -F'|' -v p=p -f "$here/calls.awk" "$api" >"$work/pcalls.def"
"$OSHCC" -std=c11 -Wall -Wextra -Werror -DSHMEM_NO_GENERICS -I"$work" \
    -I"$top_srcdir" "$here/calls.c" -o "$work/calls"

list_routines >"$work/names"
sed 's/^/p/' "$work/names" >"$work/pnames"
{
    list_cache_routines
    list_extensions
} | sed 'p; s/^/p/' >"$work/ours"
all=$(wc -l <"$work/names")

run() { # PEs, arguments of calls
    npes=$1
    shift
    timeout 60 "$OSHRUN" --timeout 50 -n "$npes" "$work/calls" "$@" >>"$work/called" && return
    echo "FAIL: calls $* with $npes PEs: status $?"
    failed=1
}

count() { # what names
    sort "$2" | comm -12 - "$work/sorted" >"$work/done"
    echo "$npes PEs: $(wc -l <"$work/done") of $(wc -l <"$2") $1 called"
    sort "$2" | comm -23 - "$work/sorted" | sed 's/^/not called: /' >"$work/missing"
    [ -s "$work/missing" ] || return 0
    head -20 "$work/missing"
    failed=1
}

for pes in 1 2; do
    : >"$work/called"
    run $pes shmem_init shmem_finalize all
    run $pes pshmem_init pshmem_finalize
    run $pes shmem_init_thread shmem_global_exit
    run $pes pshmem_init_thread pshmem_global_exit
    run $pes start_pes return
    run $pes pstart_pes return
    sort -u "$work/called" >"$work/sorted"
    count "routines" "$work/names"
    count "names for profiling" "$work/pnames"
    count "extensions" "$work/ours"

    # With all argument checks: none of the valid arguments is rejected.
    SHMEM_DEBUG=2
    export SHMEM_DEBUG
    run $pes shmem_init shmem_finalize all 2>"$work/debug"
    unset SHMEM_DEBUG
    [ $failed -eq 0 ] || tail -5 "$work/debug"
done
[ "$all" -eq 1788 ] || { echo "FAIL: the list has $all routines and not 1788"; failed=1; }
exit $failed
