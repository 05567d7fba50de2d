#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# oshrun-vnodes.sh - all functions of a launcher, on 2 and 4 virtual nodes, with trees of
# daemons of one branch, of two, and flat.  Prints the table.  TABLE_COLUMNS: only these.
# The short form has 4 nodes, and all columns with a tree of two branches.
set -eu
. "$top_srcdir/tests/launcher/hosts/lib.sh"
. "$top_srcdir/tests/launcher/hosts/columns.sh"
node_name=vn
foreign=

launcher() {
    # shellcheck disable=SC2086 # words
    exec $guard env "$mark" TMPDIR="$work/tmp" SHMEM_LAUNCH_FANOUT="$fanout" \
        "$OSHRUN" --vnodes "$nodes" -n "$npes" "$@"
}

target() {
    echo "$pid"
}

pids_on() {
    marked
}

check_departed() {
    until_true "$2" nothing_left && return 0
    check_nothing_left "$1" # says what, and removes it
    return 1
}

table_begin
all_nodes=4 fanouts='1 2 32'
[ -z "${PGAS_TEST_LONG:-}" ] || all_nodes='2 4'
[ -z "${DISTCHECK:-}" ] || fanouts=2
for nodes in $all_nodes; do
    for fanout in $fanouts; do
        row="$nodes nodes/$fanout"
        table_row
        case ${PGAS_TEST_LONG:+long}:$fanout in
        :1) run_row start signal output ;;
        :32) run_row start abort ctrl_c ;;
        *) run_row ;;
        esac
    done
done
table_end
finish
