#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# kernels-smoke.sh - tests that the application kernels have correct and identical results
# with ordinary collectives, node-shared results and the installed MPIs; that a wrong result
# is detected; that the tables of bench/kernels contain a figure for each.  Times are not
# checked.
set -eu
. "$top_srcdir/bench/smoke-lib.sh"
script=kernels

kernels() {
    timeout -k 5 100 sh "$here/kernels" "$@" >"$work/table" 2>"$work/err" </dev/null
}

# -- synthetic data: medians, ratios, answers --------------------------------------------
# The time of shared is 2 x that of ordinary in round 1, 0.9 x in rounds 2 and 3; it is
# 0.5 x that of ompi.
awk 'BEGIN {
    for (r = 1; r <= 3; r++) {
        key = r " 1 4 summa"
        print "ordinary", key, 64, 10, "ms"
        print "shared", key, 64, (r == 1 ? 20 : 9), "ms"
        print "ompi", key, 64, (r == 1 ? 40 : 18), "ms"
        print "mpich", key, 64, 100, "ms"
        print "ordinary", r " 2 4 summa.held", 64, 2, "MiB"
        print "shared", r " 2 4 summa.held", 64, 1, "MiB"
        print "ordinary", key ".sum", 64, 5, "="
        print "shared", key ".sum", 64, 5, "="
    }
}' >"$work/data"
make_table() {
    awk -v contestants='ordinary shared ompi mpich' -v processors=2 \
        -f "$here/median.awk" -f "$here/kernels.awk" "$work/data" >"$work/table"
}
make_table || wrong "identical answers are reported as different"
rows 1 '^summa  *64 ms  *10.0  *9.000  *18.0  *100.0 |  *0.90  *0.50 ompi$'
rows 1 '^summa.held  *64 MiB  *2.000  *1.000  *-  *- |  *0.50  *-$'
rows 1 '^4 PEs on 2 nodes (virtual)$'
rows 1 'all answers are the same$'
echo "shared 3 2 4 summa.sum 64 5.0000001 =" >>"$work/data"
! make_table || wrong "a wrong answer is not detected"
rows 1 '^WRONG with 4 PEs: summa.sum 64: ordinary has 5, shared has 5.0000001$'
rows 1 '; 1 answers are WRONG$'

# -- the programs ----------------------------------------------------------------------
# Small problems are compared with a serial model.
small='summa=96 poisson=16 bpmf=16'
# answers BENCH ARGUMENT OF OSHRUN...
# shellcheck disable=SC2086 # words
answers() {
    bench=$1
    shift
    timeout -k 5 60 "$OSHRUN" "$@" "$bench" -t 0 -e 0.05 $small >"$work/table" 2>"$work/err" ||
        wrong "$bench with $* ended with status $?"
    rows 9 '^[a-z]*\(\.comp\|\.comm\|\) [0-9]* [0-9.e-]* ms$'
    rows 6 '^[a-z]*\.\(held\|pss\) [0-9]* [0-9.e-]* MiB$'
    grep ' =$' "$work/table" >"$work/answers"
    rows 4 ' =$'
}

for npes in 1 3; do
    answers bench/kern_bench -n $npes
    mv "$work/answers" "$work/ordinary"
    answers bench/kern_bench_shared -n $npes
    cmp "$work/ordinary" "$work/answers" || wrong "the answers of $npes PEs differ"
done
for bench in bench/kern_bench bench/kern_bench_shared; do
    answers $bench --vnodes 2 -n 3
    cmp "$work/ordinary" "$work/answers" || wrong "the answers of 2 nodes differ"
    for kernel in $small; do
        status=0
        timeout -k 5 60 "$OSHRUN" -n 3 $bench -t 0 -w "$kernel" >"$work/table" \
            2>"$work/err" || status=$?
        [ $status = 1 ] || wrong "$bench $kernel: the wrong element is not detected"
        grep -q "^kern_bench: ${kernel%=*}: .* PE [0-9] of 3" "$work/err" ||
            wrong "$bench $kernel: no message about the wrong element"
    done
done

# -- all contestants -------------------------------------------------------------------
# With sanitizers, a comparison with other libraries is meaningless.  The short form
# has one MPI.
contestants='ordinary shared mpich'
[ -z "${PGAS_TEST_LONG:-}" ] || contestants='ordinary shared ompi mpich'
[ -z "${SANITIZED:-}" ] || contestants='ordinary shared'
# shellcheck disable=SC2086 # words
kernels -r 1 -t 0 -e 0.05 -n '1 2' -v '1 2' -k 'summa=32 poisson=8 bpmf=8' -o "$work/data" $contestants ||
    wrong "kernels ended with status $?"
installed=0
for who in $contestants; do
    ! grep -q "^kernels: $who is left out" "$work/err" || continue
    installed=$((installed + 1))
    [ "$(grep -c "^$who 1 1 [12] [a-z.]* [0-9]* [0-9.e+-]* [a-zA-Z=]*$" "$work/data")" \
        = 38 ] || wrong "$who does not have 38 figures"
done
rows 3 ' PEs on '
rows 9 "^[a-z]* .* ms \( *[0-9.e-]*\)\{$installed\} |\|^[a-z]* .* ms .* - .* |"
rows 1 'all answers are the same$'
cp "$work/err" "$work/left_out"

# -- missing contestants, failures, wrong answers --------------------------------------
cat >"$work/bench" <<'END'
#!/bin/sh
exec bench/kern_bench_shared "$@" | sed 's/iterations 8 .* =/iterations 8 1 =/'
END
chmod +x "$work/bench"
status=0
KERN_BENCH_SHARED=$work/bench OMPI_MPICC=/nonexistent kernels -r 1 -t 0 -n 1 \
    -k poisson=8 ordinary shared ompi || status=$?
[ $status = 1 ] || wrong "with a wrong answer, kernels ended with status $status"
rows 1 '^WRONG with 1 PEs: poisson.iterations 8: ordinary has [0-9]*, shared has 1$'
grep -q 'kernels: ompi is left out: /nonexistent' "$work/err" || wrong "no message that ompi is left out"

rejects "'nothing=8' is none of the kernels" -k nothing=8
rejects "'nobody' is none of the contestants" nobody
rejects "the sizes '7' should be like" -k bpmf=7
rejects "with 2 PEs the order 8 should be a multiple of 16" -n 2 -k summa=8
rejects "a side of 8 points is too short for 9 PEs" -n 9 -k poisson=8
rejects "-e '2' should be a number from 1e-09 to 1" -e 2
rejects "-v 'two' should be a whole number from 1 to 1024" -v two
rejects '^usage: bench/kernels' -Z

if grep 'is left out' "$work/left_out"; then
    echo "skipped: not all contestants of bench/kernels are installed"
    exit 77
fi
