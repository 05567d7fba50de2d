#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# again_fail.sh - a PE that fails or exits after the second shmem_init ends the job at once,
# as after the first one; so does a PE that does not call shmem_init a second time.  A PE
# that is only late does not.  Hang reports show the stage of the second initialization.
set -eu
. "$top_srcdir/tests/bugs/lib.sh"
limit_ms=60000
sizes=3
[ -z "${PGAS_TEST_LONG:-}" ] || sizes='2 3 5'

# check_duration NAME: fail if more than limit_ms have passed since $began.
check_duration() {
    took=$(($(now_ms) - began))
    [ $took -le $limit_ms ] || fail "$1: took $took ms, should be at most $limit_ms"
}

# expect_end WAY STATUS [MESSAGE]: again_fail WAY ends in time with STATUS and MESSAGE.
expect_end() {
    for n in $sizes; do
        began=$(now_ms)
        run "$2" -n "$n" "$bugs/again_fail" "$1"
        check_duration "$1, $n PEs"
        [ -z "${3:-}" ] || says "$3"
    done
}

# expect_report WAY LINE LINE: the report that SIGUSR1 requests while the job hangs has both
# lines.
report_has() {
    kill -USR1 "$pid"
    sleep 0.1 # the next one shows more
    grep -q -e "$1" "$work/err" && grep -q -e "$2" "$work/err"
}
expect_report() {
    start -v -n 2 "$bugs/again_fail" "$1"
    until_true 30 grep -q hangs "$work/out" || fail "$1: PE 1 does not reach the hang"
    until_true 20 report_has "$2" "$3" || {
        fail "$1: no report has '$2' and '$3'"
        tail -n 8 "$work/err" | sed 's/^/    /'
    }
    kill -TERM "$pid"
    ended_with 143
}

expect_end status 3 'PE 1 (pid [0-9]*) exited with status 3; ending'
expect_end global-0 0
expect_end global-status 3 'PE 1 ended the job with status 3'
expect_end abort 134 'PE 1 (pid [0-9]*) was killed by signal 6'
expect_end vanish 1 'PE 1 (pid [0-9]*) exited without shmem_finalize'
expect_end leave 1 'PE 1 has exited or called shmem_finalize while other PEs wait in shmem_barrier_all'
expect_end end-status 3 'PE 1 (pid [0-9]*) exited with status 3 after shmem_finalize'
no_again='PE 1 has ended, but PE [0-9]* calls shmem_init again; all PEs must'
expect_end early 1 "$no_again"
expect_end early-status 3 "$no_again"
SHMEM_DEBUG=1
export SHMEM_DEBUG
expect_end no-pe 1 "shmem_long_p: argument .*'pe' = 99"
unset SHMEM_DEBUG
run 0 -n 3 "$bugs/again_fail" late

expect_report hang-inside '^oshrun:  *0 .* left shmem_init .*waits.* shmem_barrier_all' \
    '^oshrun:  *1 .* left shmem_init '
expect_report hang-between '^oshrun:  *0 .* network ready .*waits.* shmem_init: ' \
    '^oshrun:  *1 .* left shmem_finalize '

# under_mpirun WAY STATUS: the job ends with STATUS under mpirun too; `some`: any but 0.
under_mpirun() {
    got=0
    env "$mark" TMPDIR="$work/tmp" timeout -s KILL "$limit_s" "$mpirun" \
        --oversubscribe -n 3 "$bugs/again_fail" "$1" </dev/null >"$work/err" 2>&1 || got=$?
    case $2:$got in
    some:0 | *:137) wrong "mpirun of again_fail $1 should fail" ;;
    some:* | "$got:$got") ;;
    *) wrong "mpirun of again_fail $1 should end with $2" ;;
    esac
}
if have_mpirun; then
    limit_s=30
    # Not `vanish`: mpirun accepts exit status 0 from a PE that has finalized once.
    ways='no-pe leave'
    [ -z "${PGAS_TEST_LONG:-}" ] || ways='status global-status no-pe abort leave early-status'
    for way in $ways; do
        under_mpirun $way some
    done
    under_mpirun global-0 0
    under_mpirun early some
    says "$no_again"
    under_mpirun late 0
else
    echo 'not tested under mpirun: no Open MPI; apt-get install openmpi-bin'
fi
rm -rf "$work"/tmp/* # mpirun may leave its directories behind
finish
