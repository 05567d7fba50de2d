#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# stages.sh - oshrun -v reports when each stage of shmem_init and shmem_finalize completed.
# Finalization, explicit or implicit, undoes the stages in reverse order.  If a stage fails,
# only the stages before it are listed, and none of the finalization.
set -eu
. "$top_srcdir/tests/bugs/lib.sh"

up='entered shmem_init
environment read
globals made symmetric
PMIx client connected
node segment mapped
symmetric heap mapped
network ready
joined the PEs of the node
endpoint addresses exchanged
teams created
left shmem_init'
down='entered shmem_finalize
operations completed
teams freed
left the watch of failures
network closed
symmetric heap released
left shmem_finalize'

# expect_stages STAGES: the last job lists exactly STAGES, with ascending times of its PE.
expect_stages() {
    awk '/in ms after their fork/ { pes = 1; next }
         pes { print $(NF - 4) "|" substr($0, 9, 34) }' "$work/err" |
        sed 's/ *$//' >"$work/rows"
    [ "$(cut -d'|' -f2 "$work/rows")" = "$1" ] && sort -t "|" -k 1n,1 -s -c "$work/rows" && return
    fail "expected these stages in order of time: $1"
    sed 's/^/    /' "$work/err"
}

# fail_in_stage STAGE ARGS...: run a job of one PE that fails in STAGE.
fail_in_stage() {
    stage=$1
    shift
    run 1 -v -n 1 "$@" "$bugs/hello"
    expect_stages "$(echo "$up" | sed "/^$stage\$/,\$d")"
}

run 0 -v -n 1 "$bugs/hello"
expect_stages "$up
$down"
run 0 -v -n 1 "$top_builddir/tests/api/multi/exits" return
expect_stages "$up
$down"
fail_in_stage 'symmetric heap mapped' -x SHMEM_SYMMETRIC_SIZE=900T
fail_in_stage 'joined the PEs of the node' -x SHMEM_REDUCE_ALGORITHM=none-such
finish
