#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# coll-table.sh - oshmem_info --tune writes a table of algorithms, on a node and between nodes;
# programs use it; an invalid table is rejected, and so are settings that differ between PEs.
# shellcheck disable=SC2016 # the PEs expand $PMIX_RANK
set -eu
: "${OSHMEM_INFO:?}"
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
unset SHMEM_COLL_TABLE
XDG_CONFIG_HOME=$work/config
export XDG_CONFIG_HOME
table=$XDG_CONFIG_HOME/pgas/coll.table
hello=$top_builddir/examples/hello
mix=$top_builddir/tests/api/multi/coll_mix.pes

# info STATUS ARGS...: oshmem_info ends with STATUS.
info() {
    want=$1
    shift
    got=0
    timeout -s KILL "$limit_s" env "$mark" TMPDIR="$work/tmp" "$OSHMEM_INFO" "$@" \
        >"$work/out" 2>"$work/err" || got=$?
    [ "$got" = "$want" ] || {
        fail "oshmem_info $*: exit status $got, expected $want"
        sed 's/^/    /' "$work/err"
    }
}

# -- options ---------------------------------------------------------------------------
info 2 --tune --pes 2,x
says "^oshmem_info: --tune: --pes '2,x' is not a list of numbers of PEs"
info 2 --tune --pes 1
info 2 --tune --fast
says 'unknown option --fast; use --quick, --pes LIST, --hosts LIST, --vnodes LIST, --only'
info 2 --tune -o
info 1 --tune --quick --pes 2 -o "$work/nowhere/table"
says "cannot write in $work/nowhere: No such file or directory"
info 2 --tune --vnodes 1 -o "$work/nodes"
says "^oshmem_info: --tune: --vnodes '1' is not a list of numbers of nodes, from 2"
info 2 --tune --vnodes 2,4 --pes 2 -o "$work/nodes"
says "^oshmem_info: --tune: --vnodes '2,4' needs numbers of PEs .* for 4 nodes; add 4 to --pes"
info 2 --tune --vnodes 2
says 'needs -o FILE'
info 2 --tune --hosts "a,,b"
says "^oshmem_info: --tune: --hosts 'a,,b': a name is missing after 'a,'"
info 2 --tune --hosts a
says "'a' is one host; name at least two"
info 2 --tune --hosts a,b --vnodes 2
info 2 --tune --only internode
says 'needs --hosts LIST or --vnodes LIST'
info 2 --tune --only nodes
info 2 --algorithms --pes many
[ ! -e "$XDG_CONFIG_HOME" ] || fail 'wrong options leave a directory'

# -- a tuner that is terminated leaves nothing -----------------------------------------------
env "$mark" TMPDIR="$work/tmp" "$OSHMEM_INFO" --tune --pes 3 >"$work/out" 2>"$work/err" &
pid=$!
until_true 20 sh -c "grep -lzxF -e '$mark' /proc/[0-9]*/environ 2>/dev/null | wc -l |
    grep -q '^[5-9]'" || fail 'the tuner starts no PEs'
kill -TERM $pid
ended_with 143
says 'stopped; no table was written'
check_nothing_left 'a tuner that is ended'
[ -z "$(find "$XDG_CONFIG_HOME" -type f)" ] || fail 'the tuner that was ended leaves a file'

# -- a table is written, and read ------------------------------------------------------------
info 0 --tune --quick --pes 2
prints '^2 PEs on [0-9]* processors'
for word in reduce broadcast collect fcollect alltoall scan; do
    prints "^  $word .* us "
done
prints "^$table has [0-9]* rows; programs read it from now on"
[ "$(head -n 1 "$table")" = 'pgas-coll-table 2' ] || fail "its header: $(head -n 1 "$table")"
grep -q '^machine [1-9][0-9]* ' "$table" || fail 'it names no machine'
! grep -v -e '^#' -e '^pgas-coll-table 2$' -e '^machine ' "$table" |
    grep -v '^[a-z_]* *[a-z]* *[0-9*-]* *2 *1\( *#.*\)*$' >&2 || fail "its rows: $(cat "$table")"
[ "$(ls "$XDG_CONFIG_HOME/pgas")" = coll.table ] || fail "beside it: $(ls "$XDG_CONFIG_HOME/pgas")"
info 0 --algorithms --parsable
prints "^selection:table:$table\$"
prints '^selection:state:used$'
run 0 -n 2 -x SHMEM_INFO=1 "$hello"
says "^Table of algorithms: $table ([0-9]* rows)"
run 0 -n 2 -x SHMEM_INFO=1 -x SHMEM_COLL_TABLE=none "$hello"
says '^Table of algorithms: none$'

# -- between nodes -----------------------------------------------------------------------------
export SHMEM_TRANSPORT=^tcp,^ofi,^ucx
info 1 --tune --quick --vnodes 2 --pes 2 -o "$work/nodes"
says "^oshmem_info: --tune: --vnodes '2': the job of 2 PEs on 2 virtual nodes failed"
unset SHMEM_TRANSPORT
export SHMEM_LAUNCH_AGENT="sh -c 'echo unknown host %h >&2; exit 1' %h"
info 1 --tune --quick --hosts no,where --pes 2 -o "$work/nodes"
says 'unknown host'
says "^oshmem_info: --tune: --hosts 'no,where': the job of 2 PEs on 2 of them failed"
unset SHMEM_LAUNCH_AGENT
[ ! -e "$work/nodes" ] || fail 'a tuner that fails leaves a table'
# Variables of the inter-node phases do not reach the jobs.
export SHMEM_INTERNODE_LEADER=nobody SHMEM_INTERNODE_RADIX=1 SHMEM_INTERNODE_REDUCE_ALGORITHM=none
info 0 --tune --quick --vnodes 2 --pes 2 -o "$work/nodes"
unset SHMEM_INTERNODE_LEADER SHMEM_INTERNODE_RADIX SHMEM_INTERNODE_REDUCE_ALGORITHM
says 'virtual nodes measure the network stack of this machine only'
prints '^2 PEs on [0-9]* processors'
prints '^2 PEs on 2 virtual nodes'
for word in reduce internode_reduce internode_broadcast internode_collect internode_alltoall \
    internode_scan; do
    prints "^  $word .* us "
done
! grep -v -e '^#' -e '^pgas-coll-table 2$' -e '^machine ' "$work/nodes" |
    grep -v -e '^[a-z]* *[a-z]* *[0-9*-]* *2 *1\( *#.*\)*$' \
        -e '^internode_[a-z]* *[a-z]* *[0-9*-]* *[2*] *2 *#' >&2 || fail "its rows: $(cat "$work/nodes")"
# A job of virtual nodes reads the rows that are for its share of the processors.
run 0 -n 2 --vnodes 2 -x SHMEM_INFO=1 -x SHMEM_COLL_TABLE="$work/nodes" "$mix" 60 9 300000
says "^Table of algorithms: $work/nodes ([0-9]* rows)"
awk '$1 ~ /^internode_/ { print $1, $2 }' "$work/nodes" >"$work/rows"
while read -r what best; do
    says "^Algorithms of $what on 2 nodes: .*$best"
done <"$work/rows"

# -- a table is followed even if its choices are slow -------------------------------------------
cat >"$work/silly" <<'END'
pgas-coll-table 2
machine *
reduce    flat     -   * *   # no range: rejected
END
sed '/rejected/d' "$work/silly" >"$work/flat"
cat >>"$work/flat" <<'END'
reduce    chain    100-300 * *
reduce    first    *    3 1
reduce    flat     *    * 1
broadcast barrier  1-2K * 1
fcollect  barrier  *    * 1
collect   barrier  *    * 1
alltoall  barrier  *    * 1
scan      barrier  *    * 1
END
run 0 -n 3 -x SHMEM_INFO=1 -x SHMEM_COLL_TABLE="$work/flat" "$mix" 100 7 3000
says 'Algorithms of reduce on 3 PEs: first to 99, chain to 300, first to 2048, slices$'
says 'Algorithms of broadcast on 3 PEs: mailbox to 0, barrier to 2048, direct$'
says 'Algorithms of scan on 3 PEs: barrier$'
run 0 -n 5 -x SHMEM_COLL_TABLE="$work/flat" "$mix" 60 8 3000
run 0 -n 3 -x SHMEM_INFO=1 -x SHMEM_COLL_TABLE="$work/flat" \
    -x SHMEM_REDUCE_ALGORITHM=slices "$hello"
says 'Algorithms of reduce on 3 PEs: slices$'
SHMEM_COLL_TABLE=$work/flat info 0 --algorithms --parsable --pes 4
prints '^collectives:reduce:now:flat to 99, chain to 300, flat to 2048, slices$'

# -- bad tables --------------------------------------------------------------------------------
run 1 -n 2 -x SHMEM_COLL_TABLE="$work/silly" "$hello"
says "SHMEM_COLL_TABLE: $work/silly:3: column 3, bytes, is '-', but must be N, N-M, N- or"
run 1 -n 2 -x SHMEM_COLL_TABLE="$work/none" "$hello"
says "SHMEM_COLL_TABLE: $work/none: cannot be opened: No such file or directory"
cp "$work/silly" "$table"
run 0 -n 2 "$hello"
says "^pgas: PE 0: $table:3: column 3, .*; the table is ignored"
[ "$(wc -l <"$work/err")" = 1 ] || fail "not one message: $(cat "$work/err")"
sed 's/machine \*/machine 12345 abacus/; /rejected/d' "$work/silly" >"$table"
run 0 -n 2 "$hello"
[ ! -s "$work/err" ] || fail "a table of another machine: $(cat "$work/err")"
run 0 -n 2 -x SHMEM_INFO=1 "$hello"
says "^Table of algorithms: none; $table is for another machine (12345 abacus; this one"
run 0 -n 2 -x SHMEM_COLL_TABLE="$table" "$hello"
says "^pgas: PE 0: SHMEM_COLL_TABLE: $table is for another machine .* and is ignored"
rm -r "$XDG_CONFIG_HOME"

# -- settings that differ between PEs -------------------------------------------------------------
# differ OPTIONS PE NAME=VALUE: only that PE has the variable.
differ() {
    # shellcheck disable=SC2086 # words
    run "$1" $2 sh -c '[ "$PMIX_RANK" != "$1" ] || export "$2"; exec "$3"' sh "$3" "$4" "$hello"
}
alike='shmem_init: these settings must be the same on all PEs, as oshrun -x sets them'
for setting in SHMEM_ADAPT=0 SHMEM_REPRODUCIBLE=1 SHMEM_SCAN_ALGORITHM=barrier SHMEM_DEBUG=2 \
    "SHMEM_COLL_TABLE=$work/flat"; do
    value='not set'
    [ "${setting%%=*}" != SHMEM_COLL_TABLE ] || value='"none"'
    differ 1 '-n 3' 1 "$setting"
    says "^pgas: PE 0: $alike: ${setting%%=*} is $value on PE 0, other than on PE 1\$"
    grep -q '^pgas: PE \([12]\|0[-,]\)' "$work/err" && fail 'more than one PE speaks'
done
differ 1 '-n 3' 0 SHMEM_ADAPT=0
says "$alike: SHMEM_ADAPT is \"0\" on PE 0, other than on PE 1, PE 2\$"
differ 1 '-n 4 --vnodes 2' 2 SHMEM_ADAPT=0
says "$alike: SHMEM_ADAPT is \"0\" on PE 2, other than on PE 3\$"
differ 1 '-n 2 --vnodes 2' 1 SHMEM_ADAPT=0
says "$alike: SHMEM_ADAPT is \"0\" on PE 1, other than on PE 0\$"
# Equal values in different notation; and rows for one node, on another node.
differ 0 '-n 2' 1 SHMEM_ADAPT=1
differ 0 '-n 2' 1 SHMEM_REDUCE_ALGORITHM=auto
differ 0 '-n 2' 1 SHMEM_DEBUG=1
sed '/chain/d' "$work/flat" >"$work/near"
differ 0 '-n 2 --vnodes 2' 1 "SHMEM_COLL_TABLE=$work/near"
differ 1 '-n 2 --vnodes 2' 1 "SHMEM_COLL_TABLE=$work/flat"
says "$alike: SHMEM_COLL_TABLE is \"$work/flat\" on PE 1, other than on PE 0\$"
finish
