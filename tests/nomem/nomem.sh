#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# nomem.sh - each allocation that our code makes in a process of a short job fails once
# (nomem.c).  The job then ends with one sentence about memory, or does without; no process
# waits for ever, and none is left.  A row is a process and the number of an allocation: a job
# in which none fails counts them.  The short form is a sample of one daemon, one PE and the front
# end; PGAS_TEST_LONG: all rows.  NOMEM_ROLES='pe3|front' runs all rows of these processes.
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
limit_s=60
lanes=${NOMEM_LANES:-2}
job=$top_builddir/tests/nomem/job
if [ -n "${PGAS_UNDER_TEST:-}" ]; then
    OSHRUN=$PGAS_UNDER_TEST/bin/oshrun
    job=$work/job
    "$PGAS_UNDER_TEST/bin/oshcc" "$top_srcdir/tests/nomem/job.c" -o "$job"
fi
${CC:-cc} -O1 -g -fPIC -shared "$top_srcdir/tests/nomem/nomem.c" -o "$work/nomem.so"

# start_job DIR ROLE N [VARIABLE=VALUE..]: runs the job; output and status in DIR.
start_job() {
    dir=$1 role=$2 n=$3
    shift 3
    mkdir -p "$dir/count" "$dir/tmp"
    status=0
    env "$mark" TMPDIR="$dir/tmp" NOMEM_DIR="$dir/count" NOMEM_ROLE="$role" NOMEM_N="$n" \
        LD_PRELOAD="$work/nomem.so" "$@" \
        timeout -s KILL "$limit_s" "$OSHRUN" -n 4 --vnodes 2 "$job" \
        >"$dir/out" 2>"$dir/err" </dev/null || status=$?
    echo "$status" >"$dir/status"
}

is_empty() {
    [ -z "$(ls -A "$1")" ]
}

# outcome_of DIR LINES: prints what the job did: continues | message | silent | verbose | hangs |
# wrong | leaves | unreached.  Beside the sentence about memory, oshrun names the node or the PEs
# that it lost, and so may a PE of another node; with SHMEM_FT=continue each other PE that has not
# got through shmem_init may say why it ends.
outcome_of() {
    status=$(cat "$1/status")
    lines=$(grep -c . "$1/err" || :)
    sentences=$(grep -ciE '(no|out of|cannot allocate) memory' "$1/err" || :)
    right=$(grep -cx 'PE [0-3]: 63 252 1 31' "$1/out" || :)
    most=$2
    [ "$right" = 0 ] || most=3
    if [ ! -s "$1/count/failed" ]; then
        echo unreached
    elif ! until_true 30 is_empty "$1/tmp"; then
        echo leaves
    elif [ "$status" = 137 ]; then
        echo hangs
    elif [ "$status" = 0 ]; then
        [ "$right" = 4 ] && echo continues || echo wrong
    elif [ "$sentences" = 0 ]; then
        echo silent
    elif [ "$sentences" = 1 ] && [ "$lines" -le "$most" ]; then
        echo message
    else
        echo verbose
    fi
}

# row ROLE N [VARIABLE=VALUE..]: one job; appends `role n outcome caller` to $work/rows.
row() {
    dir=$(mktemp -d "$work/row.XXXXXX")
    start_job "$dir" "$@"
    most=3
    [ -z "${3:-}" ] || most=5
    outcome=$(outcome_of "$dir" $most)
    echo "$1 $2 $outcome $(cut -d' ' -f2 "$dir/count/failed" 2>/dev/null || :) ${3:-}" \
        >>"$work/rows"
    case $outcome in
    continues | message | unreached) rm -rf "$dir" ;;
    *)
        {
            echo "--- $* : $outcome, status $(cat "$dir/status")"
            cat "$dir/err"
        } >>"$work/bad"
        ;;
    esac
}

# lane I: every $lanes-th row of $work/plan, from the I-th on.
lane() {
    awk -v i="$1" -v lanes="$lanes" 'NR % lanes == i' "$work/plan" |
        while read -r role n variable; do
            # shellcheck disable=SC2086 # empty or a word
            row "$role" "$n" $variable
        done
}

# plan STEP ROLES [VARIABLE=VALUE]: a row for each STEP-th allocation of these processes.
plan() {
    step=$1 roles=$2
    shift 2
    start_job "$work/counted" none 0 "$@"
    [ "$(cat "$work/counted/status")" = 0 ] || {
        fail "the job without a failure: status $(cat "$work/counted/status")"
        cat "$work/counted/err"
    }
    for file in "$work"/counted/count/*; do
        role=${file##*/}
        echo "$role ${*:-plain}: $(wc -c <"$file") allocations"
        echo "$role" | grep -qxE "$roles" || continue
        seq 1 "$step" "$(wc -c <"$file")" | sed "s/^/$role /; s/\$/ $*/" >>"$work/plan"
    done
    rm -rf "$work/counted"
}

: >"$work/plan" >"$work/rows" >"$work/bad"
if [ -n "${NOMEM_ROLES:-}" ]; then
    plan 1 "$NOMEM_ROLES"
elif [ -n "${PGAS_TEST_LONG:-}" ]; then
    plan 1 '.*'
    plan 1 '.*' SHMEM_FT=continue
else
    plan 10 'front|daemon1|pe3'
    plan 40 'daemon0|pe0' SHMEM_FT=continue
fi
for i in $(seq 0 $((lanes - 1))); do
    lane "$i" &
done
wait
check_nothing_left "after all jobs"
echo "outcomes: $(cut -d' ' -f3 "$work/rows" | sort | uniq -c | tr '\n' ' ')"
grep -vE '^[^ ]* [^ ]* (continues|message|unreached) ' "$work/rows" >"$work/wrong" || :
if [ -s "$work/wrong" ]; then
    fail "$(grep -c . "$work/wrong") allocations whose failure hangs or is not explained"
    sort -k3,3 -k1,1 -k2,2n "$work/wrong"
    cat "$work/bad"
fi
rows=$(grep -c . "$work/plan")
echo "rows $rows, outcomes $(grep -c . "$work/rows")"
[ "$rows" = "$(grep -c . "$work/rows")" ] || fail "a row has no outcome"
finish
