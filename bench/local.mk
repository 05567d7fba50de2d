# SPDX-License-Identifier: BSD-3-Clause
# bench/local.mk - the benchmark program, the scripts around it, and their smoke test.
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

TESTS += bench/bench-smoke.sh
EXTRA_DIST += bench/bench-smoke.sh bench/compare bench/compare.awk bench/goals \
	bench/startup bench/against
