# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2034,SC2154
# lib.sh - what the scripts of tests/bugs share: oshrun-lib.sh, but a job that hangs is told
# from one that fails, and is waited for no longer than limit_s.  Sourced, not run.
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
bugs=$top_builddir/tests/bugs
limit_s=10

skip() {
    echo "skipped: $*"
    exit 77
}

# job ARGS...: oshrun in at most limit_s; status in $got, output as with run.
job() {
    got=0
    timeout -k 5 "$limit_s" env "$mark" TMPDIR="$work/tmp" "$OSHRUN" "$@" \
        >"$work/out" 2>"$work/err" </dev/null || got=$?
}

# wrong SENTENCE: say it, and what the job said.
wrong() {
    case $got in
    124 | 137) fail "$1: still ran after $limit_s s" ;;
    *) fail "$1: exit status $got" ;;
    esac
    sed 's/^/    /' "$work/err"
}

# run STATUS ARGS...: oshrun ends with STATUS.
run() {
    want=$1
    shift
    job "$@"
    [ "$got" = "$want" ] || wrong "oshrun $* should end with $want"
}

# run_fails ARGS...: oshrun ends by itself, and not with 0.
run_fails() {
    job "$@"
    case $got in
    0 | 124 | 137) wrong "oshrun $* should fail" ;;
    esac
}

# have_mpirun: is there an Open MPI mpirun to test with?
have_mpirun() {
    mpirun=${MPIRUN:-mpirun}
    "$mpirun" --version 2>/dev/null | grep -q 'Open MPI'
}
