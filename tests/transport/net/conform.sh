# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# conform.sh - the conformance suite on 2 x 2 and 4 x 2 virtual nodes.  Sourced by
# conform_ofi.sh and conform_ucx.sh, which say over which transport.
# CONFORM_NODES: only on so many nodes; CONFORM_ONLY, CONFORM_DEBUG: see conform.sh.
# The short form runs on 2 x 2 the programs whose routines reach the transport, over ofi,
# and fewer over ucx; a slow build or the archive runs two.  Collectives over nodes are
# tested in tests/coll.  Left to the long form: all programs, 4 nodes, and SHMEM_DEBUG=2.
. "$top_srcdir/tests/transport/net/lib.sh"
nodes=${CONFORM_NODES:-'2 4'}
few='teams coll_sync'
over_ofi='rma strided amo signal wait_sets lock contexts'
over_ucx='rma signal lock wait_sets'

# suite NODES VARIABLE=VALUE...
suite() {
    k=$1
    shift
    echo "-- $SHMEM_TRANSPORT, $k nodes of 2 PEs each"
    env PES_VNODES="$k" PES_SIZES=$((2 * k)) "$@" \
        sh "$top_srcdir/tests/api/conform/conform.sh" || fail "$SHMEM_TRANSPORT, $k nodes"
}

all_suites() {
    for k in $nodes; do
        case ${CONFORM_ONLY:+chosen}${long:+long}:${brief:+brief}:$SHMEM_TRANSPORT:$k in
        chosen* | long*) suite "$k" ;;
        :brief:*:2) suite "$k" CONFORM_DEBUG=0 CONFORM_ONLY="$few" ;;
        :brief:* | ::ofi:4 | ::ucx:4) ;;
        ::ofi:2) suite "$k" CONFORM_DEBUG=0 CONFORM_ONLY="$over_ofi" ;;
        *) suite "$k" CONFORM_DEBUG=0 CONFORM_ONLY="$over_ucx" ;;
        esac
    done
}
