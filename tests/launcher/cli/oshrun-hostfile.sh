#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Hosts, maps and rank files: the node of each PE, and one message for each invalid input.
# No job is started.
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"

for name in $(env | sed -n 's/^\(SHMEM_LAUNCH_[^=]*\|SLURM_[^=]*\)=.*/\1/p'); do
    unset "$name"
done
file=$work/hosts
ranks=$work/ranks

# maps OPTIONS...: oshrun must print the map that is on standard input.
maps() {
    cat >"$work/expected"
    run 0 --report --dry-run "$@" true
    grep -v '^\[[0-9]*\] ' "$work/out" >"$work/map" || :
    cmp -s "$work/expected" "$work/map" && return 0
    fail "$*: expected the map"
    cat "$work/expected"
    echo "but it is"
    cat "$work/map"
}

# wrong STATUS MESSAGE OPTIONS...
wrong() {
    status=$1
    expected=$2
    shift 2
    run "$status" --dry-run "$@" true
    [ "$(cat "$work/err")" = "oshrun: $expected" ] && return 0
    fail "$*: expected 'oshrun: $expected' but got"
    cat "$work/err"
}

# -- maps -----------------------------------------------------------------------------
maps -n 5 --host 'n[0-1]:2,x' <<EOF
n0: PEs 0-1 (2 slots)
n1: PEs 2-3 (2 slots)
x: PE 4
EOF
maps -n 5 -H 'a:2,b:1' <<EOF
a: PEs 0-1,3-4 (2 slots)
b: PE 2 (1 slot)
EOF
maps -H 'a:2,b:1' <<EOF
a: PEs 0-1 (2 slots)
b: PE 2 (1 slot)
EOF
maps -n 1 -H 'a:2,b:1' <<EOF
a: PE 0 (2 slots)
EOF
maps -n 5 -H 'a:2,b:3' --map-by node <<EOF
a: PEs 0,2 (2 slots)
b: PEs 1,3-4 (3 slots)
EOF
maps -n 4 -H a:2,b:3 --map-by ppr:2:node <<EOF
a: PEs 0-1 (2 slots)
b: PEs 2-3 (3 slots)
EOF
for n in -N --npernode --ppn; do
    maps "$n" 2 -H a:3,b <<EOF
a: PEs 0-1 (3 slots)
b: PEs 2-3
EOF
done
maps -n 5 --vnodes 2 <<EOF
vn0: PEs 0-2
vn1: PEs 3-4
EOF
printf '# two\r\n\r\na slots=2 # of 4\r\nb:1\r\n' >"$file"
for option in --hostfile -hostfile --machinefile -machinefile; do
    maps "$option" "$file" <<EOF
a: PEs 0-1 (2 slots)
b: PE 2 (1 slot)
EOF
done
run 0 --report --dry-run --hostfile - true <"$file"
prints '^b: PE 2 (1 slot)$'
# PEs per node by repeated names, as batch systems write them
printf 'a\na\nb\nb\n' >"$file"
export SHMEM_LAUNCH_HOSTFILE="$file"
maps <<EOF
a: PEs 0-1 (2 slots)
b: PEs 2-3 (2 slots)
EOF
unset SHMEM_LAUNCH_HOSTFILE
printf 'rank 1=a slot=0\nrank 0=b\nrank 2=a\n' >"$ranks"
for option in --rank-file --rankfile -rankfile; do
    maps "$option" "$ranks" <<EOF
b: PE 0
a: PEs 1-2
EOF
done
maps -n 3 --rank-file "$ranks" -H c,a:4,b <<EOF
a: PEs 1-2 (4 slots)
b: PE 0
EOF

# -- lists ----------------------------------------------------------------------------
while IFS='|' read -r list message; do
    wrong 2 "--host $list: $message" --host "$list"
    wrong 2 "--host $list: $message" "--host=$list"
done <<'EOF'
|no host is named
a,,b|a name is missing after 'a,'
a:4,|a name is missing after 'a:4,'
a:0|'a:0': a host with zero slots runs nothing; leave it out
a:-4|'a:-4': expected a number of slots from 1 to 1000000
a:99999999|'a:99999999': expected a number of slots from 1 to 1000000
n[0-3|'n[0-3': the bracket is not closed
a;reboot|'a;reboot': the character ';' cannot stand in the name of a host
$(reboot)|'$(reboot)': the character '$' cannot stand in the name of a host
-oProxyCommand|'-oProxyCommand': a name cannot begin with '-'
n[0-70000]|there are more than 65536 hosts
fe80::1|'fe80::1': write an IPv6 address in brackets, as [fe80::1]
EOF
export SHMEM_LAUNCH_HOSTS='a b'
wrong 2 \
    "SHMEM_LAUNCH_HOSTS=a b: 'a b': the character ' ' cannot stand in the name of a host"
unset SHMEM_LAUNCH_HOSTS

# -- host files -----------------------------------------------------------------------
while IFS='|' read -r text message; do
    printf '# hosts\n%b\n' "$text" >"$file"
    wrong 1 "hostfile $file, line 2: $message" --hostfile "$file"
    export SHMEM_LAUNCH_HOSTFILE="$file"
    wrong 1 "hostfile $file, line 2: $message"
    unset SHMEM_LAUNCH_HOSTFILE
done <<'EOF'
a slots=0|'slots=0': a host with zero slots runs nothing; leave it out
a slots=many|'slots=many': expected a number of slots from 1 to 1000000
a slots=-1|'slots=-1': expected a number of slots from 1 to 1000000
a slots|'slots': expected slots=NUMBER or max-slots=NUMBER
a sluts=4|'sluts=4': expected slots=NUMBER or max-slots=NUMBER
a max-slots=4|max-slots needs slots too
a slots=4 max-slots=2|max-slots=2 is less than the 4 slots
a:2 slots=2|'slots=2': the line sets it twice
a,b|'a,b': the character ',' cannot stand in the name of a host
n[1-|'n[1-': the bracket is not closed
\0001|'?': the byte 0x01 cannot stand in the name of a host
a\0000b|a zero byte; this is not a text file
EOF
printf '%5000d\n' 0 >"$file"
wrong 1 "hostfile $file, line 1: the line is longer than 4095 bytes" --hostfile "$file"
printf '# none\n\n' >"$file"
wrong 1 "hostfile $file names no host" --hostfile "$file"
wrong 1 "hostfile $work cannot be read: Is a directory" --hostfile "$work"
wrong 1 "hostfile $work/none cannot be read: No such file or directory" \
    --hostfile "$work/none"
wrong 1 "hostfile $work/none cannot be read: No such file or directory" \
    --hostfile "$work/none" --launcher srun
head -c 4096 "$OSHRUN" >"$file"
run 1 --dry-run --hostfile "$file" true
says '^oshrun: hostfile .*, line 1: '
[ "$(wc -l <"$work/err")" = 1 ] || fail "a program as host file: $(cat "$work/err")"

# -- rank files -----------------------------------------------------------------------
while IFS='|' read -r text message; do
    printf '%b' "$text" >"$ranks"
    wrong 1 "rank file $ranks$message" -n 2 --rank-file "$ranks"
done <<'EOF'
| has no rank
rank 0=a\n|: rank 1 of 0 to 1 is missing
rank 0=a\nrank 1=a\nrank 2=a\n|, line 3: rank 2, but -n asks for 2 PEs
rank 0=a\nrank 0=b\n|, line 2: rank 0 was in line 1 already
rank 0=a slot=x\n|, line 1: expected processors, such as slot=0-3,8
rank 0:a\n|, line 1: expected 'rank N=HOST' or 'rank N=HOST slot=0-3,8'
rank 70000=a\n|, line 1: rank 70000 is over 65535
EOF
printf 'rank 0=a\n' >"$ranks"
wrong 1 "rank file $ranks, line 1: 'a' is not one of the job's hosts" -H b \
    --rank-file "$ranks"
wrong 1 "rank file $work cannot be read: Is a directory" --rank-file "$work"
wrong 2 '--rank-file says where each PE goes; leave out -N and --map-by' -N 1 \
    --rank-file "$ranks"
printf 'rank 0=localhost slot=0,4095-4096\n' >"$ranks"
run 1 --dry-run --rank-file "$ranks" true
says '^oshrun: the rank file binds PE 0 to processors that this host does not have: 4095-4096; it '
printf 'rank 0=localhost slot=0\nrank 1=localhost\n' >"$ranks"
run 0 --dry-run --rank-file "$ranks" --bind-to none true
prints '^\[0\] rank file (cpu 0): '
prints '^\[1\] not bound: '
got=$(env TMPDIR="$work/tmp" "$OSHRUN" --tag-output --rank-file "$ranks" \
    --bind-to none grep Cpus_allowed_list /proc/self/status | sort)
[ "$(echo "$got" | sed -n '1s/.*:[[:space:]]*//p')" = 0 ] ||
    fail "PE 0 is not bound to processor 0: $got"

# -- impossible maps ------------------------------------------------------------------
wrong 2 '--map-by ppr:4:node gives 12 PEs on 3 nodes, but -n asks for 16' -n 16 \
    -H a,b,c --map-by ppr:4:node
wrong 2 '-N 4 gives at most 12 PEs on 3 nodes, but -n asks for 16' -n 16 -H a,b,c -N 4
wrong 2 'the hosts take 131072 PEs, but a job has 65536 at most; use -n' \
    -H 'n[0-65535]:2'
printf 'a slots=1 max-slots=2\n' >"$file"
wrong 2 'the hosts take 2 PEs at most (max-slots), but -n asks for 3' -n 3 \
    --hostfile "$file"
finish
