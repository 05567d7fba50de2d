#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# listeners.sh - the processes of a job listen at the addresses that SECURITY.md names, with
# one socket for each: the table "Who listens" against /proc.  Its words for addresses
# (`--if`, `SHMEM_LAUNCH_IF`, `SHMEM_TCP_IF`, loopback) are replaced by those of the job.
# Jobs: on one node, on virtual nodes and, as root, on two hosts with two networks each, in
# the long form also with all addresses and by mpirun.  A row is an address at which a process listens or should.
# PGAS_UNDER_TEST=PREFIX: the installed oshrun and library.
set -eu
. "$top_srcdir/tests/launcher/hosts/lib.sh"
pe=$top_builddir/tests/launcher/cli/oshrun-secret
if [ -n "${PGAS_UNDER_TEST:-}" ]; then
    OSHRUN=$PGAS_UNDER_TEST/bin/oshrun
    pe=$top_builddir/tests/launcher/cli/.libs/oshrun-secret
    LD_LIBRARY_PATH=$PGAS_UNDER_TEST/lib HOSTS_SHARE=$PGAS_UNDER_TEST
    export LD_LIBRARY_PATH HOSTS_SHARE
fi
SHMEM_TRANSPORT=tcp
export SHMEM_TRANSPORT
rows=0 outcomes=0

# -- what is documented ----------------------------------------------------------------

# documented LISTENER LAUNCHER: the addresses of the row, in the words of the table.
documented() {
    awk -F' *[|] *' -v listener="$1" -v launcher="$2" '
        /^## Who listens/ { on = 1 }
        on && $2 == listener && index(", " $3 ",", ", " launcher ",") { print $4; n++ }
        /^## / && !/Who listens/ { on = 0 }
        END { if (n != 1) { print "listeners: " n + 0 " rows for " listener ", " launcher >"/dev/stderr"; exit 1 } }
    ' "$top_srcdir/SECURITY.md"
}

# addresses PID WORDS: those that the words mean where the process runs: of --if and
# SHMEM_LAUNCH_IF $if, of SHMEM_TCP_IF $tcp_if; empty: all that are up.
addresses() {
    for word in $(echo "$2" | grep -oE -e '--if|SHMEM_LAUNCH_IF|SHMEM_TCP_IF|loopback|127[.]0[.]0[.]1'); do
        case $word in
        127.0.0.1) echo "$word" && continue ;;
        loopback) names=lo ;;
        SHMEM_TCP_IF) names=$tcp_if ;;
        *) names=$if ;;
        esac
        nsenter -t "$1" -n ip -o addr show up 2>/dev/null | awk -v names="$names" '
            $2 == "lo" && names != "lo" { next }
            names != "" && index("," names ",", "," $2 ",") == 0 { next }
            $3 == "inet6" && $0 !~ /scope (global|host)/ { next }
            { sub("/.*", "", $4) }
            $3 == "inet" { print $4; next }
            { # eight groups
                split($4 "::", part, "::")
                left = split(part[1], group, ":")
                right = split(part[2], last, ":")
                for (i = left + 1; i <= 8; i++)
                    group[i] = i <= 8 - right ? "0" : last[i - 8 + right]
                for (i = 1; i <= 8; i++) printf "%s%s", group[i], i < 8 ? ":" : "\n"
            }'
    done
}

# -- what is there ---------------------------------------------------------------------

# listening PID: the addresses at which it listens.
listening() {
    inodes=$(ls -l "/proc/$1/fd" | sed -n 's/.*socket:\[\([0-9]*\)\]$/\1/p' | tr '\n' ' ')
    cat "/proc/$1/net/tcp" "/proc/$1/net/tcp6" 2>/dev/null | awk -v inodes="$inodes" '
        function byte(hex, at) {
            return 16 * (index(digits, substr(hex, at, 1)) - 1) + \
                index(digits, substr(hex, at + 1, 1)) - 1
        }
        BEGIN { digits = "0123456789ABCDEF"; n = split(inodes, part, " ")
            for (i = 1; i <= n; i++) own[part[i]] = 1 }
        $4 != "0A" || !($10 in own) { next }
        { hex = substr($2, 1, index($2, ":") - 1) }
        length(hex) == 8 {
            print byte(hex, 7) "." byte(hex, 5) "." byte(hex, 3) "." byte(hex, 1); next }
        {
            for (i = 0; i < 8; i++) { # the bytes of each word of four are reversed
                at = 8 * int(i / 2) + (i % 2 ? 3 : 7)
                printf "%x%s", 256 * byte(hex, at) + byte(hex, at - 2), i < 7 ? ":" : "\n"
            }
        }'
}

# compare WHAT PID LAUNCHER LISTENER...: the process is all of these listeners.
compare() {
    what=$1 process=$2 launcher=$3
    shift 3
    : >"$work/wanted"
    for listener in "$@"; do
        words=$(documented "$listener" "$launcher") || fail "SECURITY.md: $listener, $launcher"
        addresses "$process" "$words" >>"$work/wanted"
    done
    sort "$work/wanted" >"$work/wanted.sorted"
    listening "$process" | sort >"$work/there"
    wrong=$(diff "$work/wanted.sorted" "$work/there" | grep -c '^[<>]' || :)
    right=$(comm -12 "$work/wanted.sorted" "$work/there" | wc -l)
    rows=$((rows + wrong + right)) outcomes=$((outcomes + right))
    echo "$what: $(tr '\n' ' ' <"$work/there")"
    [ "$wrong" = 0 ] || fail "$what: it should listen at $(tr '\n' ' ' <"$work/wanted.sorted")"
}

# -- jobs ------------------------------------------------------------------------------

ready() {
    sleep 0.1
    [ "$(grep -c '^ready$' "$work/out")" = 2 ] || gone "$pid"
}

# find_processes: sets $front, $daemons and $pes.  The reaper of each has closed its sockets.
find_processes() {
    front= daemons= pes=
    for p in $(marked) $(for n in $nodes; do "$hosts" pids "$n"; done); do
        case " $front $daemons $pes " in *" $p "*) continue ;; esac
        read -r comm <"/proc/$p/comm" || continue
        case $(readlink "/proc/$p/exe"):$comm in
        */*oshrun-secret:*) pes="$pes $p" ;;
        */oshrun:oshrun-reaper) ;;
        */oshrun:*)
            if grep -qa node-daemon "/proc/$p/cmdline"; then
                daemons="$daemons $p"
            else
                front=$p
            fi
            ;;
        esac
    done
}

# job NAME NUMBER-OF-DAEMONS COMMAND...: two PEs that wait; its front end is $front.
job() {
    name=$1 ndaemons=$2
    shift 2
    : >"$work/out"
    ("$@") </dev/null >"$work/out" 2>"$work/err" &
    pid=$!
    until_true 40 ready
    find_processes
    [ "$(echo "$pes" | wc -w)" = 2 ] && [ "$(echo "$daemons" | wc -w)" = "$ndaemons" ] || {
        fail "$name: the processes are: PEs$pes, daemons$daemons"
        show
    }
}

end_job() {
    kill -TERM "${front:-$pid}" 2>/dev/null || :
    await 20
}

if='' tcp_if='' nodes=
job 'one node' 0 env "$mark" TMPDIR="$work/tmp" SHMEM_FT=continue "$OSHRUN" -n 2 "$pe" pe /
compare 'one node, oshrun' "$front" 'one node' 'front end' agent PMIx
for p in $pes; do compare 'one node, a PE' "$p" 'one node' PE/tcp; done
end_job

job 'virtual nodes' 2 env "$mark" TMPDIR="$work/tmp" SHMEM_FT=continue "$OSHRUN" -n 2 --vnodes 2 "$pe" pe /
compare 'virtual nodes, front end' "$front" vnodes 'front end'
for p in $daemons; do compare 'virtual nodes, a daemon' "$p" vnodes daemon agent PMIx; done
for p in $pes; do compare 'virtual nodes, a PE' "$p" vnodes PE/tcp; done
end_job

# on_hosts NAME OPTION...: a job of oshrun on n0 and n1.
on_hosts() {
    name=$1
    shift
    job "$name" 2 on n0 "$OSHRUN" --host n0,n1 --launch-agent "$hosts agent" "$@" "$pe" pe /
    compare "$name, front end" "$front" ssh 'front end'
    for p in $daemons; do compare "$name, a daemon" "$p" ssh daemon agent PMIx; done
    for p in $pes; do compare "$name, a PE" "$p" ssh PE/tcp; done
    end_job
    check_hosts "$name" || :
}

if reason=$("$hosts" possible 2>&1); then
    hosts_up 2
    nodes='n0 n1'
    SHMEM_FT=continue
    export SHMEM_FT
    [ -z "${PGAS_TEST_LONG:-}" ] || on_hosts 'two hosts'
    if=eth0 tcp_if=eth1
    on_hosts 'two hosts, one network each' --if eth0 -x SHMEM_TCP_IF=eth1
    if [ -n "${PGAS_TEST_LONG:-}" ] && mpirun --version 2>/dev/null | grep -q 'Open MPI'; then
        job mpirun 0 on n0 mpirun --mca plm_rsh_agent "$hosts agent" --mca oob_tcp_if_include eth0 \
            --allow-run-as-root --host n0,n1 -x SHMEM_FT -x SHMEM_TRANSPORT -x SHMEM_TCP_IF=eth1 \
            -x SHMEM_LAUNCH_IF=eth0 ${LD_LIBRARY_PATH:+-x LD_LIBRARY_PATH} -n 2 "$pe" pe /
        for p in $pes; do compare 'mpirun, a PE' "$p" mpirun agent PE/tcp; done
        end_job
        check_hosts mpirun || :
    fi
else
    echo "without jobs on two hosts: ${reason#hosts: }"
fi
echo "rows $rows, outcomes $outcomes"
finish
