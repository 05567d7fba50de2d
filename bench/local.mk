# SPDX-License-Identifier: BSD-3-Clause
# bench/local.mk - the benchmark programs, the scripts around them, and their smoke tests.
noinst_PROGRAMS += bench/shmem_bench
bench_shmem_bench_SOURCES = \
	bench/amo.c \
	bench/bench.h \
	bench/busy.c \
	bench/net.h \
	bench/network.c \
	bench/rma.c \
	bench/shmem_bench.c \
	bench/signal.c \
	bench/sync.c

bench_raw = bench/raw.c bench/raw.h bench/net.h
if HAVE_OFI
noinst_PROGRAMS += bench/fi_raw
bench_fi_raw_SOURCES = bench/fi_raw.c $(bench_raw)
bench_fi_raw_CPPFLAGS  = $(AM_CPPFLAGS) $(OFI_CFLAGS)
bench_fi_raw_LDADD   = $(OFI_LIBS)
endif

if HAVE_UCX
noinst_PROGRAMS += bench/ucp_raw
bench_ucp_raw_SOURCES = bench/ucp_raw.c $(bench_raw)
bench_ucp_raw_CPPFLAGS  = $(AM_CPPFLAGS) $(UCX_CFLAGS)
bench_ucp_raw_LDADD   = $(UCX_LIBS)
endif

noinst_PROGRAMS += bench/mt_bench bench/net-peers bench/strided_put

bench_coll = bench/coll.h bench/coll_common.c
bench_coll_shmem = bench/coll_put.c bench/coll_put.h bench/coll_shmem.c
bench_coll_active = bench/coll_active.c bench/coll_put.c bench/coll_put.h
noinst_PROGRAMS += bench/coll_bench bench/coll_bench_active bench/train
bench_coll_bench_SOURCES        = bench/coll_bench.c $(bench_coll) $(bench_coll_shmem)
bench_coll_bench_active_SOURCES = bench/coll_bench.c $(bench_coll) $(bench_coll_active)
bench_train_SOURCES             = bench/train.c $(bench_coll) $(bench_coll_shmem)

bench_kern = bench/kern.h bench/kern_bench.c bench/kern_bpmf.c bench/kern_dense.c \
	bench/kern_dense.h bench/kern_poisson.c bench/kern_summa.c $(bench_coll) \
	$(bench_coll_shmem) bench/kern_put.c bench/kern_put.h
noinst_PROGRAMS += bench/kern_bench bench/kern_bench_shared
bench_kern_bench_SOURCES        = $(bench_kern) bench/kern_shmem.c
bench_kern_bench_shared_SOURCES = $(bench_kern) bench/kern_shared.c

bench_strided = bench/strided.h bench/strided_bench.c bench/strided_fft.c bench/strided_stencil.c
noinst_PROGRAMS += bench/strided_bench
bench_strided_bench_SOURCES = $(bench_strided) bench/strided_shmem.c $(bench_coll) $(bench_coll_shmem)

bench_mini = bench/mini.h bench/mini_bench.c bench/mini_cg.c bench/mini_domain.c bench/mini_fe.c bench/mini_halo.c \
	bench/mini_md.c bench/mini_md.h bench/mini_solver.c bench/mini_solver.h bench/mini_threads.c
noinst_PROGRAMS += bench/mini_bench
bench_mini_bench_SOURCES = $(bench_mini) $(bench_coll) $(bench_coll_shmem)

noinst_PROGRAMS += bench/ft_bfs bench/ft_cost bench/ft_detect bench/irregular

noinst_PROGRAMS += bench/op_bench
bench_op_bench_LDADD   = .libs/libpgas.a .libs/libop_scalar.a

noinst_PROGRAMS += bench/pack_bench
bench_pack_bench_SOURCES = bench/pack_bench.c bench/pack_cells.c bench/pack_cells.h
bench_pack_bench_LDADD   = .libs/libpgas.a
if CPU_X86_64
noinst_PROGRAMS += bench/pack_count
bench_pack_count_SOURCES = bench/pack_count.c
bench_pack_count_LDADD   = .libs/libpgas.a
endif

noinst_PROGRAMS += bench/late_bench bench/locks_bench bench/match_bench bench/match_heat bench/match_threads
bench_late_bench_LDADD    = $(libpgas)
bench_locks_bench_LDADD   = $(libpgas)
bench_match_bench_LDADD   = .libs/libmatch.a $(libpgas)
bench_match_heat_LDADD    = .libs/libmatch.a $(libpgas) $(HWLOC_LIBS)
bench_match_threads_LDADD = .libs/libmatch.a $(libpgas)

noinst_PROGRAMS += bench/launch-fence
bench_launch_fence_CPPFLAGS  = $(AM_CPPFLAGS) $(PMIX_CFLAGS)
bench_launch_fence_LDADD   = $(PMIX_LIBS)

TESTS += bench/bench-smoke.sh bench/coll-smoke.sh bench/ft-smoke.sh bench/kernels-smoke.sh bench/launch-smoke.sh \
	bench/match-smoke.sh bench/mini-smoke.sh bench/mt-smoke.sh bench/net-smoke.sh bench/op-smoke.sh bench/pack-smoke.sh \
	bench/strided-smoke.sh
EXTRA_DIST += bench/bench-smoke.sh bench/smoke-lib.sh bench/op-smoke.sh bench/launch-smoke.sh bench/compare bench/compare.awk \
	bench/coll bench/coll.awk bench/coll-smoke.sh bench/coll_mpi.c \
	bench/kernels bench/kernels.awk bench/kernels-smoke.sh bench/kern_mpi.c \
	bench/ft bench/ft.awk bench/ft-smoke.sh \
	bench/goals bench/startup bench/against bench/launch bench/launch.awk \
	bench/match bench/match.awk bench/match-smoke.sh bench/median.awk \
	bench/mini bench/mini.awk bench/mini-smoke.sh bench/oshmem-lib.sh bench/mt bench/mt.awk bench/mt-smoke.sh \
	bench/net bench/net.awk bench/net-memory bench/net-memory.awk \
	bench/net-smoke.sh bench/pack bench/pack.awk bench/pack-count bench/pack-count.awk bench/pack_mpi.c bench/pack-smoke.sh \
	bench/strided bench/strided.awk bench/strided-smoke.sh bench/strided_mpi.c
