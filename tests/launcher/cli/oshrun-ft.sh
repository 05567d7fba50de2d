#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# oshrun-ft.sh - SHMEM_FT=continue: the job survives the failure of PEs, on one node and
# on virtual nodes, and the loss of a virtual node.  Survivors get PMIx events and complete
# collectives of PMIx; the status is theirs, and the last line names the dead.
# shellcheck disable=SC2016 # the PEs expand $PMIX_RANK
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
ft=$top_builddir/tests/launcher/cli/oshrun-ft-client
limit_s=60
SHMEM_FT=continue
export SHMEM_FT

# last TEXT: the last line of oshrun.
last() {
    tail -n 1 "$work/err" | sed 's/(pid [0-9]*, /(/g' | grep -qx -e "oshrun: $1" && return 0
    fail "the last line is not '$1':"
    sed 's/^/    /' "$work/err"
}

# survived NUMBER: so many PEs have got all events and passed all operations.
survived() {
    got=$(grep -c ' survived$' "$work/out" || :)
    [ "$got" = "$1" ] && return 0
    fail "$got survivors, expected $1"
    sed 's/^/    /' "$work/err"
}

# within MS SURVIVORS ARGS...: a job of oshrun-ft-client that takes no longer.
within() {
    ms=$1 survivors=$2
    shift 2
    steady_begin
    run 0 "$@"
    steady_within "$ms" "oshrun $*"
    survived "$survivors"
}

# -- ends of PEs -------------------------------------------------------------------------
kill_2='[ $PMIX_RANK = 2 ] && kill -KILL $$; sleep 0.3'
run 0 -n 4 sh -c "$kill_2"
last 'the job survived 1 failed PE: PE 2 (killed by signal 9)'
run 0 -v --vnodes 2 -n 4 sh -c "$kill_2"
says '^oshrun: PE 2 (pid [0-9]*) was killed by signal 9 (Killed) on vn1; the job continues$'
last 'the job survived 1 failed PE: PE 2 (killed by signal 9 on vn1)'
# Equal failures are one group.
run 0 -n 6 --vnodes 2 sh -c '[ $PMIX_RANK = 0 ] && { sleep 0.3; exit 0; }; exit 7'
last 'the job survived 5 failed PEs: PE 1,2 (exited with status 7 on vn0), PE 3-5 (exited with status 7 on vn1)'
# Without survivors the first failure counts.
run 5 -n 3 sh -c '[ $PMIX_RANK = 1 ] && exit 5; sleep 2; exit 6'
says '^oshrun: no PE has survived: PE 0,2 (exited with status 6), PE 1 (pid'
# A failed survivor: it has finalized.
run 4 -n 3 "$client" finalized-exit 1 4
says 'PE 1 (pid [0-9]*) exited with status 4 after shmem_finalize'
# The end of a program without PMIx with status 0 is no failure.
run 0 -n 3 sh -c 'sleep 0.$PMIX_RANK'
[ ! -s "$work/err" ] || fail "messages: $(cat "$work/err")"
run 0 -n 3 "$client" leave-all
[ ! -s "$work/err" ] || fail "messages: $(cat "$work/err")"
# What ends the job still does.
run 42 -n 3 --vnodes 3 "$client" abort 1 42
run 124 -n 3 --timeout 4 sh -c '[ $PMIX_RANK = 1 ] && kill -KILL $$; sleep 60'
says '^oshrun: 1 PE had failed before: PE 1 '
start -n 3 "$client" hang
there() { [ "$(grep -c 'is there' "$work/out")" = 3 ]; }
until_true 30 there || fail "the PEs do not start"
kill -TERM "$pid"
ended_with 143
# Processes that a failed PE has left are ended at once.
run 0 -n 2 sh -c '[ $PMIX_RANK = 1 ] && { sleep 60 & kill -KILL $$; }; sleep 0.3'
check_nothing_left 'children of a failed PE'

# -- settings ----------------------------------------------------------------------------
run 2 -x SHMEM_FT=yes -n 1 true
says 'SHMEM_FT=yes: expected abort or continue'
run 2 -n 1 true : -n 1 -x SHMEM_FT=abort true
says "SHMEM_FT is 'continue' for true, but 'abort' for true"
run 2 -x SHMEM_FT_PERIOD=150 -n 1 true
says 'SHMEM_FT_TIMEOUT=200 is less than twice SHMEM_FT_PERIOD (150)'
run 137 -x SHMEM_FT=abort -n 4 sh -c "$kill_2"
unset SHMEM_FT
run 0 -x SHMEM_FT=continue -n 4 sh -c "$kill_2"
SHMEM_FT=continue
export SHMEM_FT

# -- PMIx --------------------------------------------------------------------------------
# A PE of the node; the only one of another node; all of another node; of two nodes.
within 30000 3 -n 4 "$ft" 2 kill fence connect
within 30000 3 -n 4 --vnodes 4 "$ft" 2 kill pair fence
within 30000 2 -n 4 --vnodes 2 "$ft" 2,3 exit fence group
within 30000 4 -n 6 --vnodes 3 "$ft" 1,2 kill connect fence
within 30000 2 -n 4 --vnodes 2 "$ft" 2,3 kill group connect pair
within 30000 3 -n 4 --vnodes 2 "$ft" 2 leave fence
last 'the job survived 1 failed PE: PE 2 (exited without shmem_finalize on vn1)'
# Before PMIx_Init; before the survivors register their handlers.
within 30000 3 -n 4 "$ft" 2 early fence
within 30000 2 -n 4 --vnodes 2 "$ft" 2,3 early fence
within 30000 2 -n 4 --vnodes 2 "$ft" 1,3 late fence
# Data of a PE that has failed.
within 30000 2 -n 4 --vnodes 2 "$ft" 2,3 kill get

# -- what other nodes know ---------------------------------------------------------------
# A PE that others consider failed is killed, on the same node and on another.
within 30000 3 -n 4 "$ft" 2 hang mark fence
last 'the job survived 1 failed PE: PE 2 (killed by signal 9)'
within 30000 3 -n 4 --vnodes 2 "$ft" 3 hang mark fence
last 'the job survived 1 failed PE: PE 3 (\(killed by signal 9 on vn1\|node vn1 lost\))'
within 30000 2 -n 4 --vnodes 2 "$ft" 2,3 hang mark fence
last 'the job survived 2 failed PEs: PE 2,3 (\(killed by signal 9 on vn1\|node vn1 lost\))'

# -- loss of a node ----------------------------------------------------------------------
# Prints the process that started the victim, its daemon.
daemon_of() {
    for p in $(marked); do
        grep -qzx "PMIX_RANK=$1" "/proc/$p/environ" 2>/dev/null || continue
        [ "$(cat "/proc/$p/comm")" != oshrun-ft-clien ] ||
            sed -n 's/^PPid:[[:space:]]*//p' "/proc/$p/status"
    done
}

all_there() { [ "$(grep -c 'is there' "$work/out")" = 6 ]; }
in_fence() { [ "$(grep -c ': pair' "$work/out")" -ge 3 ]; }

export FT_GO="$work/go"
# lose SIGNAL OPERATIONS...: the daemon of vn1 (PE 2 and 3) gets the signal.
lose() {
    signal=$1
    shift
    rm -f "$FT_GO"
    start -v -n 6 --vnodes 3 "$ft" 2,3 hang "$@"
    until_true 20 all_there || fail "the PEs do not start"
    sleep 0.1 # they are in the operation
    kill "-$signal" $(daemon_of 2)
    : >"$FT_GO"
    ended_with 0
    survived 4
    says '^oshrun: the node daemon on vn1 .*; PE 2,3 failed; the job continues$'
    last 'the job survived 2 failed PEs: PE 2,3 (node vn1 lost)'
    check_nothing_left "daemon of vn1, $signal"
}
lose KILL fence
lose STOP pause mark fence # it does not end the PEs
lose KILL get pair group connect
lose TERM fence
lose STOP fence # the reaper ends it
# All nodes.
start -n 2 --vnodes 2 "$ft" 0,1 hang
two_there() { [ "$(grep -c 'is there' "$work/out")" = 2 ]; }
until_true 30 two_there || fail "the PEs do not start"
kill -KILL $(daemon_of 0) $(daemon_of 1)
ended_with 1
last 'no PE has survived: PE 0 (node vn0 lost), PE 1 (node vn1 lost)'
check_nothing_left "all daemons"
finish
