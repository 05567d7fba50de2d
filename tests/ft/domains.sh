#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# domains.sh - failure domains in the heartbeat ring: by the chassis that hwloc finds on each
# host, by SHMEM_FT_DOMAINS, else each node is a domain.  The hosts are daemons on this
# machine; an agent gives each of them a topology of its own.
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
limit_s=40

cat >"$work/agent" <<EOF2
#!/bin/sh
host=\$1
shift
HWLOC_XMLFILE=$work/\$host.xml exec sh -c "\$*"
EOF2
chmod +x "$work/agent"

# host NAME VENDOR SERIAL TAG: the topology of a host.
host() {
    set='cpuset="0x1" complete_cpuset="0x1" allowed_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" allowed_nodeset="0x1"'
    sets='cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1"'
    cat >"$work/$1.xml" <<EOF2
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0" $set gp_index="1">
    <info name="DMIChassisVendor" value="$2"/>
    <info name="DMIChassisSerial" value="$3"/>
    <info name="DMIChassisAssetTag" value="$4"/>
    <object type="NUMANode" os_index="0" $sets gp_index="2" local_memory="1073741824"/>
    <object type="Core" os_index="0" $sets gp_index="3">
      <object type="PU" os_index="0" $sets gp_index="4"/>
    </object>
  </object>
</topology>
EOF2
}

# domains TEXT VARIABLES...: the job prints TEXT.
domains() {
    text=$1
    shift
    for v in "$@"; do set -- "$@" -x "$v" && shift; done
    run 0 "$@" -x SHMEM_FT=continue --if lo --bind-to none --launch-agent "$work/agent" \
        -H a1,a2,b1,b2 -n 4 -N 1 "$top_builddir/tests/ft/domains"
    prints "^domains $text\$"
}

host a1 HPE CZ3424ABCD ''
host a2 HPE CZ3424ABCD 'other 77'
host b1 HPE 'Not Specified' K17-04
host b2 HPE '' K17-04
domains '0 0 1 1, apart'
domains '0 1 0 1, apart' 'SHMEM_FT_DOMAINS=a1,b1;a2,b2'

for name in a1 a2 b1 b2; do host $name QEMU 'Not Specified' 'Default string 01'; done
domains '0 1 2 3, apart'
finish
