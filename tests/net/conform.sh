# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# conform.sh - the conformance suite on 2 x 2 and 4 x 2 virtual nodes.  Sourced by
# conform_ofi.sh and conform_ucx.sh, which say over which transport.
# CONFORM_NODES: only on so many nodes; CONFORM_ONLY, CONFORM_DEBUG: see conform.sh.
# Left to the long form: SHMEM_DEBUG=2, but for a few programs; to the build: a slow or
# archived one runs a few programs on 2 x 2.
. "$top_srcdir/tests/net/lib.sh"
nodes=${CONFORM_NODES:-'2 4'}
few='teams coll_sync memory'

# suite NODES VARIABLE=VALUE...
suite() {
    k=$1
    shift
    echo "-- $SHMEM_TRANSPORT, $k nodes of 2 PEs each${2:+: ${2#*=}}"
    env PES_VNODES="$k" PES_SIZES=$((2 * k)) "$@" \
        sh "$top_srcdir/tests/conform/conform.sh" || fail "$SHMEM_TRANSPORT, $k nodes"
}

all_suites() {
    for k in $nodes; do
        if [ -n "${CONFORM_ONLY:-}$long" ]; then
            suite "$k"
        elif [ -n "$brief" ]; then
            [ "$k" = 4 ] || suite "$k" CONFORM_DEBUG=0 CONFORM_ONLY="$few"
        else
            suite "$k" CONFORM_DEBUG=0
            [ "$k" = 4 ] || suite "$k" CONFORM_DEBUG=2 CONFORM_ONLY="$few"
        fi
    done
}
