# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# columns.sh - the requirements that each launcher must meet; one cell of a table for each.
# Sourced after lib.sh, not run.
#
# The sourcing script sets for each row: $row, its name; $nodes of $per_node PEs, named
# $node_name0, ..; $foreign, the name of another launcher, or empty; and
#   launcher PROGRAM ARGS..  becomes the launcher
#   target                   prints the process to which a user sends signals
#   pids_on NODE             prints the processes on that node, among others
#   check_departed WHAT SECONDS  fails if a job left something behind
# shellcheck disable=SC2016 # the PEs expand $PMIX_RANK
columns=${TABLE_COLUMNS:-'start exit signal abort input output usr1 ctrl_c'}
per_node=2
limit_s=40
end_ms=25000 # of a job that a PE has ended; its other PEs would run for 60 s
left_s=30    # until nothing is left
big=10000000
text='a line of some length'
head -c $big /dev/urandom >"$work/random"

# -- columns ---------------------------------------------------------------------------
# A column is a function that prints an error, "n/a: reason", "ok: remark", or nothing (ok).

# job STATUS ARGS...: must exit with STATUS; input from $input, output in $work/out and err.
job() {
    want=$1
    shift
    got=0
    begin=$(now_ms)
    (guard="timeout -s KILL $limit_s" && launcher "$@") \
        <"${input:-/dev/null}" >"$work/out" 2>"$work/err" || got=$?
    took=$(($(now_ms) - begin))
    [ "$got" != "$want" ] || return 0
    echo "status $got, expected $want: $(tail -n 1 "$work/err")"
    return 1
}

# oshrun ends a job at once with a message; the others need seconds.
ended_by() {
    [ -z "$foreign" ] || return 0
    [ "$took" -le $end_ms ] || echo "the end took $took ms"
    grep -q "^oshrun: PE $1" "$work/err" || echo "no message: $(tail -n 1 "$work/err")"
}

# hang [OPTION...]: starts PEs that hang, as a group of processes like those of a terminal;
# returns when all have started.
hang() {
    guard=setsid
    : >"$work/out" # what the last one wrote must not count
    launcher "$@" "$client" hang </dev/null >"$work/out" 2>"$work/err" &
    pid=$!
    until_true 20 all_there && return 0
    echo "the PEs do not start"
    stop
}
all_there() {
    [ "$(grep -c 'is there' "$work/out")" = "$npes" ]
}
stop() {
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null || return 1
}

expected_map() {
    rank=0
    while [ $rank -lt "$npes" ]; do
        i=$((rank / per_node))
        echo "PE $rank of $npes, node $i of $nodes ($node_name$i)," \
            "local $((rank % per_node)) of $per_node," \
            "shared team $((i * per_node))/1/$per_node"
        rank=$((rank + 1))
    done | sort
}

column_start() {
    job 0 "$boot_map" || return 0
    expected_map >"$work/map"
    sort "$work/out" | cmp -s - "$work/map" || echo "wrong node map"
}

column_exit() {
    job 0 true || return 0
    if [ "$foreign" = srun ]; then
        job 7 sh -c '[ "$PMIX_RANK" != 3 ] || exit 7' || return 0
        echo "ok: srun lets the other PEs run on"
        return 0
    fi
    job 7 sh -c '[ "$PMIX_RANK" != "$0" ] || exit 7; exec sleep 60' $((npes - 1)) ||
        return 0
    ended_by "$((npes - 1)) .* exited with status 7"
}

column_signal() {
    job 137 "$boot_map" signal 9 $((npes - 1)) || return 0
    ended_by "$((npes - 1)) .* killed by signal 9"
}

column_abort() {
    job 42 "$boot_map" abort 42 $((npes - 1)) || return 0
    ended_by "$((npes - 1)) ended the job with status 42"
}

column_input() {
    (input=$work/random && job 0 sh -c '[ "$PMIX_RANK" != 0 ] || exec cat') || return 0
    cmp "$work/random" "$work/out" 2>&1 || echo "10 MB was changed"
}

# Prints the number of lines that differ from what a PE wrote, or are out of order.
bad_lines() {
    awk -v lines="$lines" -v npes="$npes" -v text="$text" '
        $0 != $1 " " $2 " " text { bad++; next }
        $2 != n[$1] + 1 { bad++ }
        { n[$1] = $2 }
        END {
            for (i = 0; i < npes; i++)
                bad += n[i] != lines
            print bad + 0
        }' "$work/out"
}

column_output() {
    lines=$((big / npes / 28 + 1)) # a line has at least 28 bytes
    job 0 sh -c 'seq -f "$PMIX_RANK %.0f $0" "$1"' "$text" "$lines" || return 0
    bytes=$(wc -c <"$work/out")
    bad=$(bad_lines)
    [ "$bad" != 0 ] || [ "$bytes" -lt $big ] || return 0
    [ -n "$foreign" ] && [ "$bytes" -ge $big ] || {
        echo "$bytes bytes, $bad of $((npes * lines)) lines are wrong"
        return 0
    }
    echo "n/a: $foreign mixes lines ($bad of $((npes * lines)))"
}

# Each PE: its node, a process of it on that host, and a state.
check_table() {
    rank=0
    while [ $rank -lt "$npes" ]; do
        node=$node_name$((rank / per_node))
        at=$(awk -v pe=$rank -v node="$node" \
            '$1 == "oshrun:" && $2 == pe && $3 == node && $5 == "S" { print $4 }' \
            "$work/err")
        pids_on "$node" | grep -qxF -e "${at:-none}" ||
            echo "PE $rank: no process '$at' on $node"
        grep -qF -e "$client" "/proc/${at:-none}/cmdline" 2>/dev/null ||
            echo "PE $rank: process '$at' is not the PE"
        rank=$((rank + 1))
    done
}
table_there() {
    [ "$(grep -c '^oshrun: .* S ' "$work/err")" -ge "$npes" ]
}

column_usr1() {
    [ -z "$foreign" ] || {
        echo "n/a: $foreign passes SIGUSR1 to the PEs"
        return 0
    }
    hang -v || return 0
    kill -USR1 "$(target)"
    until_true 20 table_there || echo "no table within 20 s"
    check_table
    kill -TERM "$(target)"
    await $limit_s
    [ "$got" = 143 ] || echo "status $got after SIGTERM"
}

# To the whole group, as a terminal does; salloc makes its command the foreground group.
interrupt() {
    if [ "$(target)" = "$pid" ]; then
        kill -s INT -- "-$pid"
    else
        kill -s INT "$(target)"
    fi
}

column_ctrl_c() {
    hang || return 0
    begin=$(now_ms)
    interrupt
    [ "$foreign" != srun ] || {
        sleep 0.2
        interrupt
    }
    await $limit_s
    took=$(($(now_ms) - begin))
    case $foreign:$got in
    srun:130) echo "ok: srun needs it twice" ;;
    mpirun:1) echo "ok: mpirun ends with status 1" ;;
    *:130)
        grep -q 'got signal 2' "$work/err" || echo "no message about the signal"
        [ "$took" -le $end_ms ] || echo "the end took $took ms"
        ;;
    *) echo "status $got, expected 130" ;;
    esac
}

# -- the table -------------------------------------------------------------------------
# cell TEXT: prints a cell of the table; a remark follows below the table.
cell() {
    short=${1%%:*}
    case $1 in
    *:*)
        remarks=$((remarks + 1))
        short=$short\ $remarks
        echo "$remarks: $row, $column: ${1#*: }" >>"$work/remarks"
        ;;
    esac
    printf ' %-7s' "$short" >>"$work/table"
}
remarks=0

run_cell() {
    set +e # in a condition, set -e would mean nothing inside
    (set -e && "column_$column") >"$work/said"
    [ $? = 0 ] || echo "the test itself failed" >>"$work/said"
    set -e
    said=$(head -n 4 "$work/said" | tr '\n' ';')
    case ${said%;} in
    '' | ok* | n/a*) ;;
    *)
        fail "$row, $column: $said"
        show
        said=FAIL
        ;;
    esac
    check_departed "$row, $column" $left_s || said=FAIL
    said=${said%;}
    cell "${said:-ok}"
}

# run_row [COLUMN..]: these cells, without arguments all; the others are shown as "-".
run_row() {
    chosen=${*:-$columns}
    npes=$((nodes * per_node))
    began=$(date +%s)
    for column in $columns; do
        case " $chosen " in
        *" $column "*) run_cell ;;
        *) cell - ;;
        esac
    done
    printf ' %s' $(($(date +%s) - began)) >>"$work/table"
}

table_begin() {
    printf '%-12s' '' >"$work/table"
    for column in $columns; do
        printf ' %-7s' "$column" >>"$work/table"
    done
    printf ' seconds' >>"$work/table"
    : >"$work/remarks"
}

table_row() {
    printf '\n%-12s' "$row" >>"$work/table"
}

table_end() {
    cat "$work/table"
    echo
    cat "$work/remarks"
}
