#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Input and output: nothing lost, no mixed lines, no hang.
# shellcheck disable=SC2016  # the PEs expand $PMIX_RANK
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
big=10000000

oshrun() {
    timeout -s KILL 60 env "$mark" TMPDIR="$work/tmp" "$OSHRUN" "$@"
}

head -c $big /dev/urandom >"$work/random"
oshrun -n 3 sh -c '[ "$PMIX_RANK" != 0 ] || cat' <"$work/random" |
    cmp - "$work/random" ||
    fail "10 MB through PE 0 was changed (file)"
cat "$work/random" | oshrun -n 1 cat | cmp - "$work/random" ||
    fail "10 MB through PE 0 was changed (pipe)"
cat "$work/random" | oshrun -n 2 sh -c '[ "$PMIX_RANK" != 0 ] || { sleep 0.3; cat; }' |
    { sleep 0.6; cat; } | cmp - "$work/random" ||
    fail "10 MB through PE 0 was changed (slow)"
yes | oshrun -n 2 true || fail "input that no PE reads"
oshrun -n 2 true <&- >&- 2>&- || fail "without standard files"
[ "$(oshrun -n 3 wc -c </dev/null | sort -u)" = 0 ] || fail "PEs got input that was not sent"

oshrun -n 16 sh -c "yes \"\$PMIX_RANK line of some length, to see whether it breaks\" |
    head -c $big" >"$work/out"
size=$(wc -c <"$work/out")
[ "$size" = $((16 * big)) ] || fail "16 x 10 MB: $size bytes arrived"
# The last line of each PE is incomplete, so that other output may follow it.
line='^[0-9]+ line of some length, to see whether it breaks$'
bad=$(grep -vcE "$line" "$work/out") || true
[ "$bad" -le 16 ] || fail "$bad mixed lines"

oshrun --tag-output -n 4 sh -c 'i=0
    while [ $i -lt 2000 ]; do
        printf "%s" "$PMIX_RANK-"; echo "$i-end"; i=$((i+1))
    done' \
    >"$work/out"
[ "$(wc -l <"$work/out")" = 8000 ] || fail "not 8000 lines"
awk '{ split($2, a, "-")
    if ($1 != "[" a[1] "]" || a[2] != n[a[1]]++ || a[3] != "end") bad++ }
    END { exit bad > 0 }' "$work/out" || fail "tags, order or lines are wrong"

long_line='[ "$PMIX_RANK" = 1 ] || head -c 1000000 /dev/zero | tr "\0" x'
long=$(oshrun -n 2 sh -c "$long_line" | wc -c)
[ "$long" = 1000000 ] || fail "a line of 1000000 bytes: $long arrived"
long=$(oshrun --tag-output -n 2 sh -c "$long_line" | wc -c)
[ "$long" = 1000005 ] || fail "a line of 1000000 bytes with tag: $long arrived"

# The reader exits: PEs get SIGPIPE, and oshrun ends without a message.
{ oshrun -n 4 yes 2>"$work/err" || echo $? >"$work/status"; } | head -1 >/dev/null
[ "$(cat "$work/status")" = 141 ] || fail "oshrun | head: status $(cat "$work/status")"
[ ! -s "$work/err" ] || fail "oshrun | head: $(cat "$work/err")"

# Output that cannot be written is a failure with one message.
lost() {
    [ "$status" = 1 ] || fail "$1: status $status"
    text=$(cat "$work/err")
    [ "$text" = "oshrun: cannot write the standard output: $2" ] || fail "$1: $text"
}
for command in 'echo text' 'seq 100000' --help '--dry-run true'; do
    status=0
    # shellcheck disable=SC2086 # program and arguments
    oshrun $command 2>"$work/err" >/dev/full || status=$?
    lost "oshrun $command >/dev/full" 'No space left on device'
    status=0
    # shellcheck disable=SC2086 # program and arguments
    oshrun $command 2>"$work/err" >&- || status=$?
    lost "oshrun $command >&-" 'Bad file descriptor'
done
for file in full null; do
    status=0
    oshrun -n 2 sh -c 'echo text >&2; exit 0' 2>"/dev/$file" || status=$?
    [ "$status:$file" = 1:full ] || [ "$status:$file" = 0:null ] ||
        fail "standard error to /dev/$file: status $status"
done
status=0
oshrun -n 1 sh -c 'exit 3' >&- 2>&- || status=$?
[ "$status" = 3 ] || fail "status 3 became $status"

# A slow reader: PEs wait, neither oshrun nor a daemon grows.
mkfifo "$work/fifo"
slow_reader() {
    env "$mark" TMPDIR="$work/tmp" SHMEM_LAUNCH_FANOUT=1 "$OSHRUN" "$@" -n 4 yes \
        >"$work/fifo" 2>"$work/err" &
    pid=$!
    exec 3<"$work/fifo"
    sleep 1
    for p in $(marked); do
        kb=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$p/status" 2>/dev/null || :)
        [ "${kb:-0}" -lt 65536 ] || fail "a slow reader ($*): a process uses $kb kB"
    done
    kill -TERM "$pid"
    ended_with 143
    exec 3<&-
}
slow_reader
slow_reader --vnodes 4
finish
