#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# stages.sh - oshrun -v charges each stage of shmem_init and shmem_finalize its own time.
# Finalisation, also an implicit one, passes the stages in reverse order.  A PE that fails
# in a stage has passed exactly those before it, and no stage of the finalisation.
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
network closed
symmetric heap released
left shmem_finalize'

# stages STAGES: the last job passed these, in this order also by the time of its one PE.
stages() {
    awk '/in ms after their fork/ { pes = 1; next }
         pes { print $(NF - 4) "|" substr($0, 9, 34) }' "$work/err" |
        sed 's/ *$//' >"$work/rows"
    [ "$(cut -d'|' -f2 "$work/rows")" = "$1" ] && sort -t "|" -k 1n,1 -s -c "$work/rows" && return
    fail "expected these stages in order of time: $1"
    sed 's/^/    /' "$work/err"
}

# fails_in STAGE ARGS...: a job of one PE that fails in it.
fails_in() {
    stage=$1
    shift
    run 1 -v -n 1 "$@" "$bugs/hello"
    stages "$(echo "$up" | sed "/^$stage\$/,\$d")"
}

run 0 -v -n 1 "$bugs/hello"
stages "$up
$down"
run 0 -v -n 1 "$top_builddir/tests/api/multi/exits" return
stages "$up
$down"
fails_in 'symmetric heap mapped' -x SHMEM_SYMMETRIC_SIZE=900T
fails_in 'joined the PEs of the node' -x SHMEM_REDUCE_ALGORITHM=none-such
finish
