#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# coll-smoke.sh - tests that bench/coll runs every installed library, that its tables
# contain a figure for each, and that it rejects invalid options with an error message;
# that late_bench prints figures.  Times are not checked.
set -eu
. "$top_srcdir/bench/smoke-lib.sh"
script=coll

coll() {
    timeout -k 5 100 sh "$here/coll" "$@" >"$work/table" 2>"$work/err" </dev/null
}

# -- synthetic data: medians, ratios, verdicts ------------------------------------------
# The time of ours is 2 x that of mpich, the best, in round 1 and 0.9 x in rounds 2 and 3;
# 1.03 x at 64 K, 2 x at 1 M; the forced algorithm is twice as fast in rounds 2 and 3.
awk 'BEGIN {
    for (r = 1; r <= 3; r++) {
        key = r " balanced 4 "
        print "ours", key "allreduce.mid", 8, (r == 1 ? 20 : 9), "us"
        print "ours", key "allreduce", 8, 1000, "us"
        print "ours:ring", key "allreduce.mid", 8, 4.5, "us"
        print "ours", key "allreduce.mid", 65536, 10.3, "us"
        print "ours", key "allreduce.mid", 1048576, 20, "us"
        print "ompi", key "allreduce.mid", 8, 30, "us"
        print "mpich", key "allreduce.mid", 8, 10, "us"
        print "mpich", key "allreduce.mid", 65536, 10, "us"
        print "mpich", key "allreduce.mid", 1048576, 10, "us"
        print "ours", r " train 2 train", 1048576, 50, "steps/s"
        print "mpich", r " train 2 train", 1048576, 100, "steps/s"
        print "mpich", r " train 2 train.wait", 1048576, 100, "%"
    }
}' >"$work/data"
awk -v contestants='ours ompi mpich ours:ring' -v processors=2 -f "$here/median.awk" \
    -f "$here/coll.awk" "$work/data" >"$work/table"
rows 1 '^ *8  *9.000  *30.0  *10.0  *4.500 |  *0.90 mpich  *ok *|  *2.00 ours:ring  *MISS$'
rows 1 '^ *64K  *10.3  *-  *10.0  *- |  *1.03 mpich  *~ *|  *-$'
rows 1 '^ *1M  *20.0  *-  *10.0  *- |  *2.00 mpich  *MISS *|  *-$'
rows 1 '^ *1M  *50.0  *-  *100.0  *- |  *0.50 mpich  *MISS *|  *-$'
rows 1 '^4 figures are compared with the best other: 2 MISS, 1 ~$'
rows 1 '^1 figures .* our best forced algorithm: 1 MISS, 0 ~$'

# -- the programs ----------------------------------------------------------------------
# figures N SUFFIXES PES PROGRAM OPTION...: the program prints N figures for each suffix.
figures() {
    number=$1 suffixes=$2 npes=$3
    shift 3
    timeout -k 5 60 "$OSHRUN" -n "$npes" "$@" >"$work/table" 2>"$work/err" ||
        wrong "$* with $npes PEs ended with status $?"
    for suffix in $suffixes; do
        rows "$number" "^[a-z]*${suffix#-} [0-9]* [0-9.]* \(us\|alpha\|steps/s\|%\)$"
    done
    rows $((number * $(echo "$suffixes" | wc -w))) '^[^#]'
}

small='-t 0.0005 -s 8,1K'
# shellcheck disable=SC2086 # words
for bench in bench/coll_bench bench/coll_bench_active; do
    figures 9 '- .mid .max .last' 1 $bench $small
    figures 9 '- .mid .max' 3 $bench $small -b
    figures 3 '- .mid .max .last .skew' 3 $bench $small -i 10 -d sleep -f barrier alltoall
done
figures 2 '- .wait' 3 bench/train -t 0.001 -s 8,1K -c 10 -j 10
figures 3 '-' 2 bench/coll_bench -c -t 0.001 -s 64,1K
cp "$work/table" "$work/alpha"
figures 1 '- .mid .max .last .skew' 1 bench/coll_bench -t 0.001 -s 64 -i 2 -a "$work/alpha" \
    fcollect

# -- all contestants -------------------------------------------------------------------
# With sanitizers, a comparison with other libraries is meaningless.  The short form
# has an OpenSHMEM and an MPI.
contestants='ours oshmem mpich'
[ -z "${PGAS_TEST_LONG:-}" ] || contestants='ours oshmem ompi ompi-sm mpich'
[ -z "${SANITIZED:-}" ] || contestants=ours
# shellcheck disable=SC2086 # words
coll -r 1 -t 0.0005 -n 2 -s 8,1K -m 'balanced 10' -o "$work/data" $contestants ||
    wrong "coll ended with status $?"
installed=0
for who in $contestants; do
    ! grep -q "^coll: $who is left out" "$work/err" || continue
    installed=$((installed + 1))
    [ "$(grep -c "^$who 1 [0-9a-z]* 2 [a-z.]* [0-9]* [0-9.]* [a-z]*$" "$work/data")" = 81 ] ||
        wrong "$who does not have 81 figures"
done
rows 18 "^ *[0-9K]*\( *[0-9.]*\)\{$installed\} |"
rows 5 'imbalanced, MIF 10'
cp "$work/err" "$work/left_out"

# The algorithms need not exist: a wrapper records their names and removes the variables.
cat >"$work/bench" <<EOF
#!/bin/sh
echo "algorithms: \${SHMEM_REDUCE_ALGORITHM-} \${SHMEM_BARRIER_ALGORITHM-}" >>"$work/names"
unset SHMEM_REDUCE_ALGORITHM SHMEM_BARRIER_ALGORITHM
exec bench/coll_bench "\$@"
EOF
chmod +x "$work/bench"
COLL_BENCH=$work/bench
export COLL_BENCH
coll -r 1 -t 0.0005 -n 3 -s 8,1M -m loop -M 8 -c 'allreduce fcollect' \
    -A allreduce=flat,last -A barrier=flat -P ours ours-active ||
    wrong "coll with forced algorithms ended with status $?"
unset COLL_BENCH
rows 2 '^ *[8M1]*\( *[0-9.]*\)\{4\} | .* | .* ours:'
rows 1 '^ *8\( *[0-9.]*\)\{2\}  *-  *- |'
rows 1 '^fcollect 1048576 is left out: .* more than 8 MiB$'
for name in flat last; do
    [ "$(grep -c "^algorithms: $name \$" "$work/names")" = 3 ] || wrong "$name was not requested"
done

coll -T -r 1 -t 0.001 -n 2 -s 1K -o "$work/data" ours ompi ||
    wrong "the training loop ended with status $?"
rows 1 '^ *1K  *[0-9.]* '

# -- missing contestants, failures, time-outs ------------------------------------------
export OMPI_MPICC=/nonexistent
coll -r 1 -t 0.0005 -n 1 -s 8 -c barrier ours ompi || wrong "a missing contestant is a failure"
grep -q 'coll: ompi is left out: /nonexistent' "$work/err" || wrong "no message that ompi is left out"
rows 1 '^ *0  *[0-9.]* |  *-$'
export OMPI_MPICC=true OMPI_MPIRUN=false
! coll -r 1 -t 0.0005 -n 1 -s 8 -c barrier ompi || wrong "a failing contestant is not a failure"
grep -q 'coll: ompi with 1 PEs (balanced) ended with status 1' "$work/err" ||
    wrong "no message about the contestant that failed"
printf '#!/bin/sh\nexec sleep 60\n' >"$work/slow"
chmod +x "$work/slow"
OMPI_MPIRUN=$work/slow
coll -r 2 -l 3 -t 0.0005 -n 1 -s 8 -c barrier ours ompi || wrong "a slow contestant is a failure"
[ "$(grep -c 'coll: ompi with 1 PEs (balanced) was not done in 3 s' "$work/err")" = 1 ] ||
    wrong "a slow contestant is repeated or not reported"
rows 1 '^ *0  *[0-9.]*  *- |  *-$'
unset OMPI_MPICC OMPI_MPIRUN

BEFORE=. coll -r 2 -t 0.0005 -n 2 -s 8 -c barrier -o "$work/data" ours before ||
    wrong "coll with another build ended with status $?"
rows 1 '^ *0  *[0-9.]*  *[0-9.]* |  *[0-9.]* before  '
[ "$(sed 's/ .*//' "$work/data" | uniq | tr '\n' ' ')" = 'ours before ours ' ] ||
    wrong "the builds do not alternate"

rejects "the environment variable BEFORE names no build" before
rejects "'gather' is none of the operations" -c gather
rejects "'nobody' is none of the contestants" nobody
rejects "the sizes '8,7' should be like" -s 8,7
rejects "the sizes '8,' should be like" -s 8,
rejects "MIF '-5' should be a number from 0" -m 'balanced -5'
rejects "MIF 'loops' should be a number from 0" -m loops
rejects "-n '2000' should be a whole number from 1 to 1024" -n 2000
rejects "a delay is busy or sleep, not 'idle'" -d idle
rejects "has no line 'alpha 512 ... us'" -m 10 -s 512 -a "$work/alpha"
rejects "a figure is mid, mean, max or last" -w least
rejects "should be like allreduce=ring,tree" -A ring
rejects "the sizes '9' should be like" -T -s 9
rejects '^usage: bench/coll' -Z

# -- late_bench ----------------------------------------------------------------------------
late() {
    timeout -k 5 100 "$OSHRUN" --vnodes 2 -n 3 bench/late_bench "$@" >"$work/table" 2>"$work/err"
}
late -c 2 -i 3 -s 8,64K || wrong "late_bench fails"
rows 2 '^auto  *[0-9]*  *[0-9.]*  *[0-9.]*  *[0-9.]* us, ratio 1.00$'
rows 2 '^chain  *[0-9]*  *[0-9.]*  *[0-9.]*  *[0-9.]* us, ratio [0-9.]*$'
! late none || wrong "late_bench accepts an unknown algorithm"
grep -q 'late_bench: an ALGORITHM is auto or one of' "$work/err" || wrong "no message about it"

if grep 'is left out' "$work/left_out"; then
    echo "skipped: not all contestants of bench/coll are installed"
    exit 77
fi
