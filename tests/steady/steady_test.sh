#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# steady_test.sh - the decision that a judgement of time is void, in shell and in C: with
# counts of the kernel that the test makes up, and with those of processes that compete.
set -eu
steady=$top_builddir/tests/steady
work=$(mktemp -d "${TMPDIR:-/tmp}/steady.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 99' INT TERM HUP
failures=0
wrong() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}
[ -e "/proc/$$/schedstat" ] && [ -e "/proc/$$/task/$$/children" ] || {
    echo "skipped: this kernel has no schedstat or no children in /proc"
    exit 77
}

# -- synthetic counts: process 100 with a thread 101 and a child 200; 300 is another's ---------
proc=$work/proc
# thread PID TID DELAY_NS [CHILD..]
thread() {
    mkdir -p "$proc/$1/task/$2"
    dir=$proc/$1/task/$2 delay=$3
    shift 3
    echo "$*" >"$dir/children"
    echo "123456789 $delay 42" >"$dir/schedstat.new"
    mv "$dir/schedstat.new" "$dir/schedstat"
}
steal() {
    echo "cpu 1 2 3 4 5 6 7 $1 9 10" >"$proc/stat.new"
    mv "$proc/stat.new" "$proc/stat"
}
# The state before each interval is in $work/first.
prepare() {
    mkdir "$proc"
    thread 100 100 9000000000 200
    thread 100 101 9000000000
    thread 200 200 9000000000
    thread 300 300 9000000000
    steal 1000
    mv "$proc" "$work/first"
}
prepare

# change FUNCTION: what happens in the interval, which is judged to be 1000 ms.
cat >"$work/shell" <<'END'
. "$top_srcdir/tests/steady/steady.sh"
fail() { exit 1; }
work=$1
PGAS_STEADY=$1/counts
steady_begin
sh "$1/change"
steady_late 1000 'something'
steady_end
END

# expect STATUS WHAT, the changes on standard input: the decision of both, on 1000 ms.
expect() {
    sed 's/^/    /' >"$work/body"
    {
        echo "proc='$proc'"
        sed -n '/^thread() {/,/^}/p; /^steal() {/,/^}/p' "$0"
        cat "$work/body"
    } >"$work/change"
    for judge in "sh $work/shell $work" "$steady/judge 1000"; do
        cp -r "$work/first" "$proc"
        "$steady/watch" -p "$proc" 100 "$work/counts" || wrong "the watch does not start"
        got=0
        case $judge in
        sh*) $judge >"$work/out" 2>&1 || got=$? ;;
        *) PGAS_STEADY=$work/counts $judge "sh $work/change" >"$work/out" 2>&1 || got=$? ;;
        esac
        [ "$got" = "$1" ] || {
            wrong "$2: ${judge%% *}: $got, expected $1"
            cat "$work/out"
        }
        rm -rf "$proc" # ends the watch
    done
}

expect 1 'nothing was delayed' </dev/null
expect 1 'exactly a tenth' <<'END'
thread 100 100 9040000000 200
thread 100 101 9060000000
END
expect 75 'more than a tenth, by one nanosecond' <<'END'
thread 100 100 9040000000 200
thread 100 101 9060000001
END
expect 75 'a child' <<'END'
thread 200 200 9100000001
END
expect 1 'a process that is not of the test' <<'END'
thread 300 300 9900000000
END
expect 75 'a child that is new and then ends' <<'END'
thread 400 400 100000001
thread 100 100 9000000000 200 400
sleep 0.2
thread 100 100 9000000000 200
rm -r "$proc/400"
END
expect 75 'a grandchild whose parent has ended' <<'END'
thread 500 500 0
thread 200 200 9000000000 500
sleep 0.2
thread 100 100 9000000000
rm -r "$proc/200"
thread 500 500 100000001
END
expect 1 'a tenth was stolen' <<'END'
steal $((1000 + $(getconf CLK_TCK) / 10))
END
expect 75 'more than a tenth was stolen' <<'END'
steal $((1001 + $(getconf CLK_TCK) / 10))
END
expect 75 'delayed and stolen' <<'END'
steal $((1000 + $(getconf CLK_TCK) / 20))
thread 200 200 9050000001
END

# -- real processes ---------------------------------------------------------------------------
# Three loops on one processor: each waits while another runs.
cat >"$work/real" <<'END'
. "$top_srcdir/tests/steady/steady.sh"
fail() { echo "$1" && exit 1; }
work=$1
steady_begin
for i in 1 2 3; do
    sh -c 'n=0; while [ $n -lt 20000 ]; do n=$((n + 1)); done' &
done
wait
steady_within 1 'the loops'
steady_end
END
cpu=$(sed -n 's/^Cpus_allowed_list:[^0-9]*\([0-9]*\).*/\1/p' /proc/self/status)
got=0
taskset -c "$cpu" sh "$work/real" "$work" >"$work/out" 2>&1 || got=$?
[ "$got" = 75 ] || wrong "three loops on a processor: $got; $(cat "$work/out")"
grep -q '^unsteady: the loops took [0-9]* ms, more than 1; delayed' "$work/out" ||
    wrong "no reason: $(cat "$work/out")"
sed 's/^steady_within 1 /steady_within 600000 /' "$work/real" >"$work/passes"
got=0
taskset -c "$cpu" sh "$work/passes" "$work" >"$work/out" 2>&1 || got=$?
[ "$got" = 0 ] || wrong "a judgement that is met is void: $got; $(cat "$work/out")"

# In C with a watch of its own, which is not among the children of the test.
got=0
taskset -c "$cpu" "$steady/judge" 1 \
    'for i in 1 2 3; do (n=0; while [ $n -lt 20000 ]; do n=$((n + 1)); done) & done; wait' \
    >"$work/out" 2>&1 || got=$?
[ "$got" = 75 ] || wrong "the same in C: $got; $(cat "$work/out")"

# Without a watch a judgement that is not met is a failure.
got=0
top_builddir=/nonexistent sh "$work/real" "$work" >"$work/out" 2>&1 || got=$?
[ "$got" = 1 ] || wrong "no watch: $got; $(cat "$work/out")"
[ "$failures" = 0 ]
