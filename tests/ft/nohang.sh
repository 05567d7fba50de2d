#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# nohang.sh - SHMEM_FT=continue: PEs are killed in, before and after each blocking routine;
# the others return from it, and go on as a smaller world (nohang.c).  On one node, on virtual
# nodes with both transports, where whole nodes are killed too; with each algorithm of the
# collectives, SHMEM_STRESS, SHMEM_DEBUG and threads.  PGAS_TEST_LONG: NOHANG_KILLS kills
# (20 000) by NOHANG_LANES jobs at a time (as many as processors), or those of NOHANG_SECONDS.
# NOHANG_SEED: the first seed.  A failed job is repeated by the command that is printed.
#
# A kill costs the start of a process, 0.05 s of processor time on a node and 0.1 (ucx) to
# 0.25 s (ofi) on virtual nodes.  So jobs of the long form kill all PEs but one.
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
nohang=$top_builddir/tests/ft/nohang
seed=${NOHANG_SEED:-1} first=0 stacks_s=60 limit_s=90
end=$(($(date +%s) + ${NOHANG_SECONDS:-86400}))
lanes=${NOHANG_LANES:-$(getconf _NPROCESSORS_ONLN)} lane_pids='' lane=$work/lane1
mkdir "$lane"
: >"$lane/samples"

# ---- each routine has a case

list_routines() {
    nm -D --defined-only "$top_builddir/.libs/libshmem.so" | awk '{ print $3 }' |
        sed -E -e 's/@.*//' -e '/^shmemx?_/!d' -e 's/^shmemx_/x_/' -e 's/^shmem_(ctx_)?//' \
            -e 's/^(x_)?(float|double|longdouble|char|schar|short|int|long|longlong|uchar|ushort|uint|ulong|ulonglong|u?int(8|16|32|64)|size|ptrdiff|complexd|complexf)_/\1/' \
            -e 's/^(i|ib)?(put|get)(mem|8|16|32|64|128)(_|$)/\1\2\4/' \
            -e 's/^(broadcast|f?collect|alltoalls?)(mem|32|64)$/\1/' | sort -u
}

check_table() {
    table=$top_srcdir/tests/ft/nohang.txt
    "$nohang" -l | sort >"$work/cases"
    awk '!/^#/ && $1 != "-" { print $1 }' "$table" | sort | diff - "$work/cases" ||
        fail "cases of nohang.txt (<) and of nohang.c (>) differ"
    awk '!/^#/ && NF > 1 { print "^(" $2 ")$" }' "$table" >"$work/patterns"
    list_routines >"$work/routines"
    missing=$(grep -vE -f "$work/patterns" "$work/routines" || :)
    [ -z "$missing" ] || fail "routines without a case in nohang.txt: $missing"
    [ "$(wc -l <"$work/routines")" -gt 100 ] || fail "no list of routines"
}

# ---- jobs

# job PES OPTIONS [NAME=VALUE..]: OPTIONS of nohang, or 'oshrun options -- nohang options'.
job() {
    n=$1 options=$2
    shift 2
    [ "$(date +%s)" -lt "$end" ] || return 0
    case $options in
    *--*) oshrun_options=${options%%-- *} options=${options#*-- } ;;
    *) oshrun_options='' ;;
    esac
    case $options in
    *-c*) ;;
    *) options="-f $first $options" ;;
    esac
    board=$lane/board
    rm -f "$board"
    # shellcheck disable=SC2086 # words
    set -- "$@" SHMEM_FT=continue "$OSHRUN" --timeout $stacks_s $oshrun_options -n "$n" \
        "$nohang" -b "$board" -s "$seed" $options
    got=0
    timeout -s KILL "$limit_s" env "$mark" TMPDIR="$work/tmp" "$@" >"$lane/out" 2>&1 || got=$?
    "$top_builddir/tests/ft/nohang_report" "$board" >"$lane/report" || got="$got, votes differ"
    if [ "$got" != 0 ]; then
        fail "status $got: env $*"
        cat "$lane/out"
        grep 'has status' "$lane/report" || :
        "$top_builddir/tests/ft/nohang_report" -w "$board"
    fi
    cat "$lane/report" >>"$lane/samples"
    seed=$((seed + 1)) first=$((first + n - 1))
}

# all_algorithms PES ROUNDS: each algorithm of each collective on a node.  ROUNDS: '-r N', or
# '' for as many as there are PEs to kill.
all_algorithms() {
    for a in flat last first lines slices chain tree static; do
        job "$1" "$2 -c reduce" SHMEM_REDUCE_ALGORITHM=$a
    done
    for a in mailbox direct barrier; do
        job "$1" "$2 -c broadcast" SHMEM_BROADCAST_ALGORITHM=$a
    done
    for a in mailbox arrival barrier; do
        job "$1" "$2 -c fcollect" SHMEM_FCOLLECT_ALGORITHM=$a
        job "$1" "$2 -c alltoall" SHMEM_ALLTOALL_ALGORITHM=$a
    done
    for a in mailbox barrier; do
        job "$1" "$2 -c collect" SHMEM_COLLECT_ALGORITHM=$a
        job "$1" "$2 -c scan" SHMEM_SCAN_ALGORITHM=$a
    done
    for a in dissemination counter tree; do
        job "$1" "$2 -c barrier_all" SHMEM_BARRIER_ALGORITHM=$a SHMEM_COLL_GROUPS=2
    done
    job "$1" "$2 -c reduce" SHMEM_REDUCE_ALGORITHM=groups SHMEM_COLL_GROUPS=2
    job "$1" "$2 -c broadcast" SHMEM_BROADCAST_ALGORITHM=groups SHMEM_COLL_GROUPS=2
}

# all_internode PES NODES ROUNDS NAME=VALUE: each algorithm between nodes.
all_internode() {
    for a in gather exchange doubling direct halving ring chain barrier; do
        job "$1" "--vnodes $2 -- $3 -c reduce" SHMEM_INTERNODE_REDUCE_ALGORITHM=$a "$4"
    done
    job "$1" "--vnodes $2 -- $3 -c barrier_all" SHMEM_BARRIER_ALGORITHM=tree \
        SHMEM_COLL_GROUPS=2 "$4"
    for a in eager gather stream knomial scatter barrier; do
        leader=static
        [ $((seed % 2)) = 0 ] || leader=first
        job "$1" "--vnodes $2 -- $3 -c broadcast" SHMEM_INTERNODE_BROADCAST_ALGORITHM=$a \
            SHMEM_INTERNODE_LEADER=$leader "$4"
    done
    for a in eager direct ring barrier; do
        job "$1" "--vnodes $2 -- $3 -c fcollect" SHMEM_INTERNODE_COLLECT_ALGORITHM=$a "$4"
    done
    for a in gather direct bruck pairwise barrier; do
        job "$1" "--vnodes $2 -- $3 -c alltoall" SHMEM_INTERNODE_ALLTOALL_ALGORITHM=$a "$4"
        job "$1" "--vnodes $2 -- $3 -c alltoalls" SHMEM_INTERNODE_ALLTOALL_ALGORITHM=$a "$4"
    done
    for a in gather doubling chain barrier; do
        job "$1" "--vnodes $2 -- $3 -c scan" SHMEM_INTERNODE_SCAN_ALGORITHM=$a "$4"
    done
    for a in gather ring; do # ring and others: the chain in PE order
        job "$1" "--vnodes $2 -- $3 -c reduce" SHMEM_REPRODUCIBLE=1 \
            SHMEM_INTERNODE_REDUCE_ALGORITHM=$a "$4"
    done
}

kills() {
    cat "$work"/lane*/samples | awk '$1 == "kills" { n += $2 } END { print n + 0 }'
}

# quantiles TEXT: prints those of numbers in standard input, microseconds, and fails if the
# median or the 99th percentile is far from what an overloaded machine needs, or if too many
# are above 100 ms.
late_percent=50 median_us=2000000 p99_us=10000000
[ -z "${PGAS_TEST_LONG:-}" ] || late_percent=2 median_us=500000 p99_us=2000000
quantiles() {
    sort -n | awk -v text="$1" -v limit="$late_percent" -v median="$median_us" \
        -v p99="$p99_us" '{ v[NR] = $1; late += $1 > 100000 }
        END {
            printf "%d returns, microseconds after %s: median %.0f, 99 %% %.0f, 99.9 %% %.0f, last %.0f; %d above 100 ms\n",
                NR, text, v[int((NR + 1) / 2)], v[int(NR * .99)], v[int(NR * .999)], v[NR], late
            exit !(NR > 0 && v[int(NR / 2)] < median && v[int(NR * .99)] < p99 &&
                late * 100 <= NR * limit)
        }'
}

# Prints and checks the times from the kill, and from the call of the failure handler, to
# the return; unloaded, detection takes microseconds on a node.
check_times() {
    cat "$work"/lane*/samples | awk '$1 != "kills" && $(NF - 1) != "-"' >"$work/returns"
    awk '{ print $(NF - 1) }' "$work/returns" | quantiles 'the kill' ||
        fail "the returns take too long"
    awk '$(NF - 2) != "-" { t = $(NF - 1) - $(NF - 2); print (t > 0 ? t : 0) }' "$work/returns" |
        quantiles 'the failure handler' || fail "the returns take too long"
    awk '$(NF - 2) != "-" && $(NF - 1) - $(NF - 2) > 1e5 { n[$1]++ }
        END { for (c in n) print n[c], c }' "$work/returns" | sort -rn | head -n 8 |
        awk '{ printf "%s %s %d", NR == 1 ? "late:" : ",", $2, $1 } END { if (NR) print "" }'
    echo "$(kills) kills"
}

# ---- the jobs of both forms

short_form() {
    job 16 -F
    job 16 "-F -t"
    job 16 '' SHMEM_STRESS="$seed"
    job 8 -F SHMEM_DEBUG=2
    for n in 2 3 5 8 16; do
        job "$n" -F
    done
    for n in 16 16 16 16 16 16 16 16; do
        job "$n" -t
    done
    all_algorithms 5 '-r 2'
    for transport in ofi ucx tcp; do
        job 8 "--vnodes 4 -- -F" SHMEM_TRANSPORT=$transport
        job 8 "--vnodes 4 -- -N" SHMEM_TRANSPORT=$transport
        job 6 "--vnodes 3 -- -N -c strided" SHMEM_TRANSPORT=$transport
    done
    all_internode 6 3 '-r 2' SHMEM_TRANSPORT=auto
}

long_form() {
    for n in 2 3 5 8 8 8 16; do
        job "$n" -F
        job "$n" "-F -t" SHMEM_STRESS="$seed"
        job "$n" '' SHMEM_DEBUG=$((seed % 3))
    done
    for transport in ofi ucx tcp; do
        job 8 "--vnodes 4 -- -F" SHMEM_TRANSPORT=$transport
        job 8 "--vnodes 4 -- -N" SHMEM_TRANSPORT=$transport
        job 7 "--vnodes 3 -- -t" SHMEM_TRANSPORT=$transport SHMEM_STRESS="$seed"
    done
    all_algorithms 9 ''
    all_internode 6 3 '' SHMEM_TRANSPORT="$1"
}

# lane_run NUMBER: the long form until the lanes together have enough kills.
lane_run() {
    trap 'exit 99' INT TERM HUP
    lane=$work/lane$1 seed=$((seed + ($1 - 1) * 1000000)) first=$((($1 - 1) * 61))
    begin=$(date +%s)
    while [ "$failures" -lt 10 ] && [ "$(kills)" -lt "${NOHANG_KILLS:-20000}" ] &&
        [ "$(date +%s)" -lt "$end" ]; do
        long_form "$internode"
        case $internode in ofi) internode=ucx ;; ucx) internode=tcp ;; *) internode=ofi ;; esac
        echo "lane $1, seed $seed, $(($(date +%s) - begin)) s, load $(cut -d' ' -f1 /proc/loadavg):" \
            "$(kills) kills, $failures failures"
    done
    echo "$failures" >"$lane/failures"
}

all_lanes() {
    trap 'kill $lane_pids; wait; exit 99' INT TERM HUP
    internode=ofi
    for i in $(seq "$lanes"); do
        mkdir -p "$work/lane$i"
        : >"$work/lane$i/samples"
    done
    for i in $(seq "$lanes"); do
        lane_run "$i" &
        lane_pids="$lane_pids $!"
        case $internode in ofi) internode=ucx ;; ucx) internode=tcp ;; *) internode=ofi ;; esac
    done
    wait
    for i in $(seq "$lanes"); do
        failures=$((failures + $(cat "$work/lane$i/failures" || echo 1)))
    done
}

check_table
if [ -n "${PGAS_TEST_LONG:-}" ]; then
    stacks_s=240 limit_s=300 # other work may leave little time to many PEs
    all_lanes
else
    short_form
fi
check_times
finish
