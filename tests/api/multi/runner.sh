#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# runner.sh - a test of run-pes: it must fail for a bad status, a leftover process or a
# leftover file, pass on a skip, and be unsteady with an unsteady run.  A small script replaces oshrun.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/oshrun" <<'EOF'
#!/bin/sh
# oshrun --timeout T [--vnodes K] -n N PROGRAM: behaves according to the name of PROGRAM.
nodes=
[ "$3" != --vnodes ] || nodes=$4
[ "$nodes" = "$CHECK_VNODES" ] || exit 9
[ -z "$nodes" ] || shift 2
case $5 in
*/two-nodes.pes) [ "$nodes" = $(($4 > 2 ? 2 : $4)) ] ;;
*/good.pes) exit 0 ;;
*/skip.pes) exit 77 ;;
*/skip-one.pes) [ "$4" -ne 1 ] || exit 77 ;;
*/unsteady.pes) [ "$4" -ne 2 ] || exit 75 ;;
*/unsteady-bad.pes) [ "$4" -ne 2 ] || exit 75; [ "$4" -lt 3 ] || exit 5 ;;
*/bad.pes) [ "$4" -lt 3 ] || exit 5 ;;
*/process.pes) sleep 600 >/dev/null 2>&1 & ;;
*/file.pes) : >"$TMPDIR/left" ;;
*/brief.pes) (sleep 0.3; rm -f "$TMPDIR/none") >/dev/null 2>&1 & ;;
esac
EOF
chmod +x "$work/oshrun"

# expect NAME STATUS [PATTERN]: run-pes ends with STATUS, and its output matches PATTERN.
expect() {
    status=0
    OSHRUN=$work/oshrun PES_SIZES='1 2 3' \
        sh "$top_srcdir/tests/run-pes" "$work/$1.pes" >"$work/out" 2>&1 || status=$?
    if [ $status -ne "$2" ] || ! grep -q "${3:-}" "$work/out" && [ -n "${3:-}" ]; then
        echo "run-pes of $1: status $status, should be $2${3:+, with '$3'}"
        cat "$work/out"
        exit 1
    fi
}

expect good 0
expect skip 77
expect skip-one 0
expect bad 1 'with 3 PEs ended with status 5'
expect unsteady 75
expect unsteady-bad 1 'with 3 PEs ended with status 5'
expect process 1 'left processes'
expect file 1 'left files'
expect brief 0
PES_VNODES=2
export PES_VNODES
expect two-nodes 0
expect bad 1 'with 3 PEs ended with status 5'
