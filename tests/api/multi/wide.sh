#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# wide.sh - simulates a machine with 64 processors by replacing sched_getaffinity, so that
# the algorithms for one PE per processor run with more PEs than this machine has
# processors: barriers, collectives, locks, waits.
set -eu
sizes='3 8'
[ -n "${PGAS_TEST_LONG:-}" ] || sizes=5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/wide.c" <<'EOF'
#define _GNU_SOURCE
#include <sched.h>
#include <sys/types.h>

/* Reports 64 processors, whatever the kernel returns. */
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *mask)
{
    (void)pid;
    CPU_ZERO_S(size, mask);
    for (size_t i = 0; i < 64 && i < 8 * size; i++)
        CPU_SET_S(i, size, mask);
    return 0;
}
EOF
${CC:-cc} -O1 -fPIC -shared "$work/wide.c" -o "$work/wide.so"

# A wrapper that sets LD_PRELOAD for oshrun and its PEs only.
cat >"$work/oshrun" <<EOF
#!/bin/sh
exec env LD_PRELOAD="$work/wide.so" \\
    ASAN_OPTIONS="verify_asan_link_order=0:\${ASAN_OPTIONS:-}" "$OSHRUN" "\$@"
EOF
chmod +x "$work/oshrun"

tests='barrier reduce lock'
[ -z "${PGAS_TEST_LONG:-}" ] || tests='barrier bcast reduce order lock heap'
for test in $tests; do
    OSHRUN=$work/oshrun PES_SIZES="$sizes" sh "$top_srcdir/tests/run-pes" \
        "$top_builddir/tests/api/multi/$test.pes"
done
