# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# steady.sh - for tests that fail if something took too long; sourced.  Such a test exits with
# 75, "unsteady", if its processes waited on run queues, or the hypervisor had their
# processor, for more than a tenth of the time that it judges; ./check then runs it again,
# alone.  A judgement that is met passes, and other failures are failures.
#
#     steady_begin
#     ...
#     steady_within 15000 "the end"    # milliseconds; calls `fail` of the test, or counts
#     steady_end                       # at the end of the test, when nothing has failed
#
# The sourcing test has a function fail, and the directory $work.

steady_lost=0 # judgements that were void
PGAS_STEADY=

# steady_now: prints milliseconds.
steady_now() { echo $(($(date +%s%N) / 1000000)); }

# steady_read: sets the counts of the watch; all 0 if there is none.
steady_read() {
    sample=0 delayed=0 stolen=0
    [ ! -s "$PGAS_STEADY" ] || read -r sample delayed stolen <"$PGAS_STEADY" || :
}

# The watch has no environment, so that tests do not take it for a process of theirs.
steady_begin() {
    if [ -z "$PGAS_STEADY" ]; then
        PGAS_STEADY=$work/steady
        export PGAS_STEADY
        env -i "${top_builddir:-.}/tests/steady/watch" $$ "$PGAS_STEADY" || :
    fi
    steady_read
    steady_sample=$sample steady_delayed=$delayed steady_stolen=$stolen
    steady_began=$(steady_now)
}

# steady_within MS WHAT: sets $took, the time since steady_begin; judges that it is at most MS.
steady_within() {
    steady_took
    steady_judge "$@"
}

# steady_took: only ends the interval.  steady_is_within MS: only asks.  steady_judge MS WHAT:
# judges, later.
steady_took() { took=$(($(steady_now) - steady_began)); }
steady_is_within() { [ "$took" -le "$1" ]; }
steady_judge() {
    steady_is_within "$1" || steady_late "$took" "$2 took $took ms, more than $1"
}

# steady_late MS MESSAGE: a judgement on an interval of MS, which ends now, is not met.
steady_late() {
    steady_read
    first=$sample tries=2000
    # The second sample from now on began after the interval.
    while [ "$first" -gt 0 ] && [ "$sample" -lt $((first + 2)) ] && [ $tries -gt 0 ]; do
        sleep 0.01
        steady_read
        tries=$((tries - 1))
    done
    if [ "$steady_sample" -gt 0 ] && steady_is_void "$1" $((delayed - steady_delayed)) \
        $((stolen - steady_stolen)); then
        steady_lost=$((steady_lost + 1))
        echo "unsteady: $2; delayed on run queues for $(((delayed - steady_delayed) / 1000000)) ms," \
            "by the hypervisor for $(((stolen - steady_stolen) / 1000000)) ms"
    else
        fail "$2"
    fi
}

# steady_is_void MS DELAYED_NS STOLEN_NS: more than a tenth of the judged time was lost.
steady_is_void() {
    [ $((($2 + $3) * 10)) -gt $(($1 * 1000000)) ]
}

# steady_ended STATUS WHAT: a part of the test, a process of its own, has ended with STATUS.
steady_ended() {
    case $1 in
    0) ;;
    75)
        steady_lost=$((steady_lost + 1))
        echo "unsteady: $2"
        ;;
    *) fail "$2" ;;
    esac
}

# steady_end: exits with 75 if a judgement was void.
steady_end() {
    [ "$steady_lost" = 0 ] || exit 75
}
