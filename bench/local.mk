# SPDX-License-Identifier: BSD-3-Clause
# bench/local.mk - the benchmark programs, the scripts around them, and their smoke tests.
noinst_PROGRAMS += bench/shmem_bench
bench_shmem_bench_SOURCES = \
	bench/amo.c \
	bench/bench.h \
	bench/busy.c \
	bench/rma.c \
	bench/shmem_bench.c \
	bench/signal.c \
	bench/sync.c
bench_shmem_bench_LDADD = libshmem.la
bench_shmem_bench_LDFLAGS = $(AM_LDFLAGS) -no-install

noinst_PROGRAMS += bench/launch-fence
bench_launch_fence_SOURCES = bench/launch-fence.c
bench_launch_fence_CFLAGS  = $(AM_CFLAGS) $(PMIX_CFLAGS)
bench_launch_fence_LDADD   = $(PMIX_LIBS)

TESTS += bench/bench-smoke.sh bench/launch-smoke.sh
EXTRA_DIST += bench/bench-smoke.sh bench/launch-smoke.sh bench/compare bench/compare.awk \
	bench/goals bench/startup bench/against bench/launch bench/launch.awk bench/median.awk
