#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tamper.sh - a proxy changes one frame of the connections of a short job (proxy.c): of the
# sealed links of oshrun, of the sealed mesh of the failure agents, or of the handshakes of
# tcp.  A row is a stream, the number of a frame and an action.  The job then ends with a
# sentence that tells which connection was changed or lost, or goes on and has the right
# results.  A job through the proxy that changes nothing counts the frames, which are all
# tested with PGAS_TEST_LONG; otherwise a sample of them.  TAMPER_SEED: of the sample.
# TAMPER_ROWS='STREAM NUMBER ACTION': only these rows, one a line.
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
limit_s=60
lanes=${TAMPER_LANES:-4}
sample=24
actions='flip-header flip-body flip-tag drop repeat swap cut'
job=$top_builddir/tests/launcher/tamper/job
proxy=$top_builddir/tests/launcher/tamper/proxy
SHMEM_TRANSPORT=tcp
export SHMEM_TRANSPORT
if [ -n "${PGAS_UNDER_TEST:-}" ]; then
    OSHRUN=$PGAS_UNDER_TEST/bin/oshrun
    job=$work/job
    "$PGAS_UNDER_TEST/bin/oshcc" "$top_srcdir/tests/launcher/tamper/job.c" -o "$job"
fi
"$proxy" "$work/possible" true 2>"$work/err" || {
    echo "skipped: $(tail -n 1 "$work/err")"
    exit 77
}

# start_job DIR FT SECONDS OPTION...: runs the job behind the proxy; output and status in
# DIR.  SECONDS: limits what waits for ever if a message of tcp is lost.
start_job() {
    dir=$1 ft=$2 net_s=$3
    shift 3
    mkdir -p "$dir/tmp"
    status=0
    env "$mark" TMPDIR="$dir/tmp" SHMEM_FT="$ft" SHMEM_NET_TIMEOUT="$net_s" \
        "$proxy" "$@" "$dir/did" \
        timeout -s KILL "$limit_s" "$OSHRUN" -n 4 --vnodes 2 "$job" \
        >"$dir/out" 2>"$dir/err" </dev/null || status=$?
    echo "$status" >"$dir/status"
}

is_empty() {
    [ -z "$(ls -A "$1")" ]
}

is_right() {
    [ "$(grep -cx 'PE [0-3]: 4 4 7' "$1/out")" = 4 ]
}

# Who has changed, lost or refused which connection.
explains='node daemon.* \(not authentic\|closed the connection\|has lost its connection\)'
explains="$explains\\|node daemon.* \\(has not answered\\|did not connect\\)"
# A daemon whose connection was cut ends, which may be noticed first.
explains="$explains\\|cannot start the node daemon: the node daemon ended"
explains="$explains\\|node daemon.* only a part has arrived"
explains="$explains\\|connection from .* does not know the nonce"
explains="$explains\\|tcp: the connection to PE [0-9]* has failed"
explains="$explains\\|tcp: cannot connect to PE [0-9]*: "
explains="$explains\\|tcp: PE [0-9]* has sent a message of the handshake twice"
explains="$explains\\|PE [0-9]* has not answered for"

# outcome_of DIR: prints what the job did.  `alone`: no frame followed that could have
# overtaken the other.
outcome_of() {
    status=$(cat "$1/status")
    did=$(sed -n 's/^did .* //p' "$1/did" 2>/dev/null || :)
    if [ "$status" = 137 ]; then
        echo hangs
    elif [ "$status" -ge 128 ]; then
        echo crash
    elif ! until_true 30 is_empty "$1/tmp"; then
        echo leaves
    elif grep -qi 'invalid message\|unknown' "$1/err"; then
        echo unknown
    elif [ "$status" != 0 ]; then
        if grep -q "$explains" "$1/err"; then echo explained; else echo silent; fi
    elif ! is_right "$1"; then
        echo wrong
    else
        case $did in
        '') echo unreached ;;
        alone) echo alone ;;
        *) echo continues ;;
        esac
    fi
}

# row STREAM NUMBER ACTION: one job; appends `stream number action outcome` to $work/rows.
row() {
    dir=$(mktemp -d "$work/row.XXXXXX")
    ft=abort
    case $1 in
    mesh*) ft=continue ;;
    esac
    start_job "$dir" $ft 3 -c "$@"
    outcome=$(outcome_of "$dir")
    echo "$* $outcome" >>"$work/rows"
    case $outcome in
    explained | continues | alone | unreached) ;;
    *)
        {
            echo "--- $* : $outcome, status $(cat "$dir/status")"
            grep '^did' "$dir/did" || :
            cat "$dir/err" "$dir/out"
        } >>"$work/bad"
        ;;
    esac
    rm -rf "$dir"
}

# lane I: every $lanes-th row of $work/plan, from the I-th on.
lane() {
    awk -v i="$1" -v lanes="$lanes" 'NR % lanes == i' "$work/plan" |
        while read -r stream number action; do
            row "$stream" "$number" "$action"
        done
}

# plan FT PROTOCOLS: appends a row for each frame and action to $work/all.
plan() {
    start_job "$work/counted" "$1" 30
    [ "$(cat "$work/counted/status")" = 0 ] && is_right "$work/counted" || {
        fail "the job behind the proxy: status $(cat "$work/counted/status")"
        cat "$work/counted/err"
    }
    while read -r _ stream count; do
        echo "$stream" | grep -q "$2" || continue
        echo "$stream: $count frames"
        for action in $actions; do
            [ "$count" = 0 ] || seq 0 $((count - 1)) | sed "s/.*/$stream & $action/"
        done >>"$work/all"
    done <"$work/counted/did"
    rm -rf "$work/counted"
}

choose() {
    awk -v seed="${TAMPER_SEED:-1}" 'BEGIN { srand(seed) } { print rand() "\t" $0 }' "$work/all" |
        sort -n | head -n $sample | cut -f2
}

: >"$work/all" >"$work/rows" >"$work/bad"
if [ -n "${TAMPER_ROWS:-}" ]; then
    echo "$TAMPER_ROWS" >"$work/plan"
else
    plan abort '^link\|^tcp'
    plan continue '^mesh'
    choose >"$work/plan"
    [ -z "${PGAS_TEST_LONG:-}" ] || cp "$work/all" "$work/plan"
fi
for i in $(seq 0 $((lanes - 1))); do
    lane "$i" &
done
wait
check_nothing_left "after all jobs"
echo "protocol action outcome: jobs"
sed 's/-[^ ]* [0-9]*//' "$work/rows" | sort | uniq -c |
    awk '{ printf "%s %s %s: %d\n", $2, $3, $4, $1 }'
cat "$work/bad"
wrong=$(grep -cvE ' (explained|continues|alone|unreached)$' "$work/rows" || :)
[ "$wrong" = 0 ] || fail "$wrong jobs hang, fail without an explanation, or are wrong"
rows=$(grep -c . "$work/plan" || :)
outcomes=$(grep -c . "$work/rows" || :)
reached=$(grep -cv ' unreached$' "$work/rows" || :)
echo "rows $rows, outcomes $outcomes"
[ "$rows" = "$outcomes" ] || fail "a row has no outcome"
# A job may exchange a few frames less than the one that counted.
[ $((reached * 10)) -ge $((rows * 8)) ] || fail "only $reached frames were reached"
[ "$rows" -gt 0 ] || fail "no row"
finish
