#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ofi_order.sh - puts rely on the message order of tcp;ofi_rxm only with the libfabric
# versions for which it was verified; SHMEM_OFI_ORDER overrides that; the fallback works.
set -eu
. "$top_srcdir/tests/transport/lib.sh"

needs OFI
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp "$top_builddir/tests/transport/.libs/fake_ofi.so" "$dir/libfabric.so.1"
FAKE_OFI_LIBRARY=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p |
    awk '$1 == "libfabric.so.1" { print $NF; exit }')
[ -n "$FAKE_OFI_LIBRARY" ] || {
    echo "libfabric.so.1 is not in the linker's cache"
    exit 77
}
export FAKE_OFI_LIBRARY

# in_mode MODE MINOR SUITE_OPTIONS...: the transport must select MODE with libfabric 1.MINOR.
in_mode() {
    mode=$1
    export FAKE_OFI_MINOR="$2"
    shift 2
    LD_LIBRARY_PATH=$dir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
        timeout 60 "$top_builddir/tests/transport/suite" ofi -n 2 "$@" >"$dir/log" 2>&1 || {
        echo "libfabric 1.$FAKE_OFI_MINOR, $*: the suite fails"
        cat "$dir/log"
        failures=$((failures + 1))
    }
    grep -q "^# ofi: .*, $mode;" "$dir/log" && return
    echo "libfabric 1.$FAKE_OFI_MINOR, $*: the mode is not '$mode'"
    grep '^# ofi:' "$dir/log" || :
    failures=$((failures + 1))
}

in_mode ordered 17 -o order.put_amo
in_mode 'delivery complete' 16 -o order.put_amo
in_mode 'delivery complete' 18 -o order.put
in_mode ordered 18 -r yes -o order.put_amo
in_mode 'delivery complete' 17 -r no -o signal.after_puts
finish
