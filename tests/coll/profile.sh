#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# profile.sh - SHMEM_PROFILE_ARRIVAL: reports of calls with known delays; the HTML report
# needs no other file and, if Chromium is installed, draws its plots.
set -eu
SHELL=${SHELL:-/bin/sh}
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
program=$top_builddir/tests/coll/profile
oshprof=$top_builddir/oshprof
report=$work/report
width=1240 height=2400
blank_bytes=40000 # a screenshot of an empty page is smaller

# profiled ARGS...: run with SHMEM_PROFILE_ARRIVAL; all reports must be written.
profiled() {
    rm -f "$report"*
    steady_begin
    run 0 -x SHMEM_PROFILE_ARRIVAL="$report" "$@"
    steady_took
    [ ! -s "$work/err" ] || fail "$*: unexpected messages: $(cat "$work/err")"
    [ -s "$report" ] && [ -s "$report.html" ] || fail "$*: there is no report"
    [ -s "$report.oshprof" ] || fail "$*: there is no raw profile"
}

# figure SECTION ROUTINE COLUMN: print COLUMN of the first row of ROUTINE in SECTION.
figure() {
    awk -F '  +' -v section="== $1" -v routine="$2" -v column="$3" '
        /^==/ { here = index($0, section) == 1 }
        { sub(/^ +/, "") }
        here && $2 == routine { print $column; exit }' "$report"
}

# at_least NAME VALUE LEAST: fail if VALUE < LEAST; fractions are allowed.
at_least() {
    awk -v value="$2" -v least="$3" 'BEGIN { exit !(value != "" && value + 0 >= least) }' ||
        fail "$1 is '$2', less than $3"
}

# equals NAME VALUE WANTED: fail if VALUE is not WANTED.
equals() {
    [ "$2" = "$3" ] || fail "$1 is '$2', not '$3'"
}

# timed COMMAND...: at_least or equals, of a figure that depends on the delays of PEs.
timed() {
    (fail() { exit 1; } && "$@") || steady_late "$took" "$2 is '$3', not $4"
}

# The expected values follow from profile.c.
check_report() {
    sites='calls by site and size'
    equals 'calls of the late site' "$(figure "$sites" shmem_long_sum_reduce 4)" 10
    equals 'calls of the balanced site' "$(figure "$sites" shmem_int_max_reduce 4)" 50
    equals 'large calls' "$(figure "$sites" shmem_double_min_reduce 4)" 4
    equals 'size of large calls' "$(figure "$sites" shmem_double_min_reduce 3)" '512 KiB'
    equals 'calls of teams' "$(figure "$sites" shmem_short_broadcast 4)" 6
    equals 'calls of the active set' "$(figure "$sites" shmem_long_max_to_all 4)" 1
    equals 'size of the active set' "$(figure "$sites" shmem_long_max_to_all 3)" '32 B'
    timed at_least 'Omega, us,' "$(figure "$sites" shmem_long_sum_reduce 6)" 15000
    timed at_least 'the worst-case factor' "$(figure "$sites" shmem_long_sum_reduce 8)" 10
    last='PEs that arrive last'
    timed equals 'the PE that arrives last' "$(figure "$last" shmem_long_sum_reduce 3)" 1
    timed at_least 'how often it does' "$(figure "$last" shmem_long_sum_reduce 5)" 6
    case $(figure 'call sites' shmem_long_sum_reduce 3) in
    late_reduce | late_reduce\ at\ profile.c:*) ;;
    *) fail "the late site is $(figure 'call sites' shmem_long_sum_reduce 3)" ;;
    esac
    head -n 2 "$report" | grep -q " on $(hostname): .*/profile" || fail "no host or command"
    equals 'lines of over 100 columns' "$(awk 'length > 100 && !/^Started/' "$report" | wc -l)" 0
    equals 'teams of the even PEs' "$(grep -c '^PEs 0..2 by 2  ' "$report")" 2
    ! grep -q '^Left out' "$report" || fail "$(grep '^Left out' "$report")"
    [ $failures -eq 0 ] || cat "$report"
}

# figure_class WHERE: Omega in us and the worst-case factor of class 0-1 KiB.
figure_class() {
    awk -F '  +' -v where="$1" '$1 == "0-1 KiB" && $2 == where { print $4, $7; exit }' "$report"
}

# check_node_factor "OMEGA FACTOR" "OMEGA FACTOR": of the job and of a node.  A message
# within a node takes less than half the time of one between nodes, over TCP.
check_node_factor() {
    echo "$1 $2" | awk '{ exit !($2 > 0 && $4 > 0 && $3 / $4 < 0.5 * $1 / $2) }' ||
        steady_late "$took" "factors of the job '$1' and of a node '$2' come from one message time"
}

# The page needs no other file and no network, and contains the data.
check_page() {
    ! grep -q -i -e 'https*:' -e ' src=' -e 'url(' -e '@import' "$report.html" ||
        fail "the page refers to external resources"
    grep -q '"routine": "shmem_long_sum_reduce", "place": "late_reduce' "$report.html" ||
        fail "the page lacks the late site"
    ! grep -q '@DATA@\|[: ]-*nan\|[: ]-*inf[,}]' "$report.html" || fail "the page lacks numbers"
}

find_browser() {
    for name in chromium chromium-browser google-chrome headless_shell; do
        command -v "$name" && return 0
    done
    return 1
}

# browse OPTION...: open the page in Chromium, for at most a minute.
browse() {
    timeout -k 5 60 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars \
        --no-first-run --user-data-dir="$work/browser" --window-size="$width,$height" "$@" \
        "file://$report.html" 2>"$work/browser.err"
}

number_at() {
    od -An -j "$2" -N 4 -t u1 "$1" | awk '{ print (($1 * 256 + $2) * 256 + $3) * 256 + $4 }'
}

# The script of the page has run to its end, and the screenshot is not empty.
render_page() {
    ended=0
    browse --screenshot="$work/page.png" --dump-dom >"$work/dom" || ended=$?
    [ $ended != 124 ] || {
        echo "$browser timed out: the page was not rendered"
        return 0
    }
    [ $ended = 0 ] || fail "$browser ends with $ended: $(tail -n 3 "$work/browser.err")"
    grep -q '<body data-plots="5"' "$work/dom" || fail "the page has not drawn five plots"
    [ "$(grep -o '<circle' "$work/dom" | wc -l)" -ge 70 ] || fail "points are missing"
    [ -s "$work/page.png" ] || fail "no screenshot: $(tail -n 3 "$work/browser.err")"
    equals 'the width of the screenshot' "$(number_at "$work/page.png" 16)" $width
    equals 'its height' "$(number_at "$work/page.png" 20)" $height
    at_least 'its size in bytes' "$(wc -c <"$work/page.png")" $blank_bytes
}

profiled -n 4 "$program"
check_report
grep -q '^Arrival profile of profile: 4 PEs on 1 node' "$report" || fail "$(head -n 1 "$report")"
check_page
if browser=$(find_browser); then
    render_page
else
    echo "Chromium is not installed: the page was not rendered"
fi

profiled --vnodes 2 -n 4 "$program"
check_report
check_page
grep -q '^Arrival profile of profile: 4 PEs on 2 nodes' "$report" || fail "$(head -n 1 "$report")"
# Message times within a node and between nodes differ, and each is used for its factors.
grep -q '^alpha between nodes, from PE 0 to PE 3' "$report" || fail "no alpha between nodes"
grep -q '^alpha within a node, from PE 0 to PE 1' "$report" || fail "no alpha within a node"
check_node_factor "$(figure_class 'the job')" "$(figure_class 'a node')"
grep -q '^Clocks of the nodes: aligned to within [0-9.]* us' "$report" || fail "no clocks"
grep -q '^0-1 KiB      *a node ' "$report" || fail "no figures of a node"

profiled -n 4 "$program" exit
check_report
profiled -n 1 "$program"

# The name decides which reports are made.
rm -f "$report"*
run 0 -n 2 -x SHMEM_PROFILE_ARRIVAL="$report.html" "$program"
grep -q '^<!DOCTYPE html>' "$report.html" || fail "report.html is no web page"
[ ! -e "$report" ] && [ ! -e "$report.html.html" ] || fail "unrequested reports were written"
run 0 -n 2 -x SHMEM_PROFILE_ARRIVAL="$report.txt" "$program"
grep -q '^Arrival profile' "$report.txt" || fail "report.txt is no text"
run 0 --wdir "$work" -n 2 -x SHMEM_PROFILE_ARRIVAL=raw.oshprof "$program"
"$oshprof" report "$work/raw.oshprof" | grep -q '^Arrival profile' || fail "no report of a raw profile"

# If oshrun does not know about the profile, PE 0 prints the name of the file.
run 0 -n 2 "$SHELL" -c 'SHMEM_PROFILE_ARRIVAL="$1" exec "$0"' "$program" "$work/alone.html"
says "pgas: PE 0: the arrival profile is in '$work/alone.oshprof'; 'oshprof report'"

# No collective, and invalid files.
run 0 -n 2 -x SHMEM_PROFILE_ARRIVAL="$report" "$program" empty
grep -q '^alpha was not measured: no collective was called' "$report" || fail "$(cat "$report")"
for bytes in 0 100 1000 2000; do
    head -c $bytes "$work/raw.oshprof" >"$work/cut.oshprof"
    ! "$oshprof" report "$work/cut.oshprof" >/dev/null 2>"$work/err" || fail "truncated at $bytes bytes: accepted"
    grep -q "^oshprof: cannot use '$work/cut.oshprof'" "$work/err" || fail "$(cat "$work/err")"
done

# Errors that are detected at the start of the job.
run 1 -n 2 -x SHMEM_PROFILE_ARRIVAL="$work/nowhere/report" "$SHELL" -c 'echo started'
says "oshrun: SHMEM_PROFILE_ARRIVAL: cannot write '$work/nowhere/report': No such file"
! grep -q started "$work/out" || fail "the job was started"
run 1 -n 2 "$SHELL" -c 'SHMEM_PROFILE_ARRIVAL="$1" exec "$0"' "$program" "$work/nowhere/r"
says "SHMEM_PROFILE_ARRIVAL: cannot write '$work/nowhere/r.oshprof': No such file"
for nodes in 1 2; do
    run 1 --vnodes $nodes -n 4 "$SHELL" -c 'test "$PMIX_RANK" = 2 || export \
        SHMEM_PROFILE_ARRIVAL=nowhere; exec "$0"' "$program"
    says 'SHMEM_PROFILE_ARRIVAL is set here, but not on PE 2; set it for all PEs or for none'
done
rm -f "$report"
run 0 -n 2 "$program"
[ ! -e "$report" ] || fail "an unrequested report was written"
finish
