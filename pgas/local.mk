# SPDX-License-Identifier: BSD-3-Clause
# The library.  libpgas.la has all of it with its internal names, for the unit tests;
# libshmem.la is the same objects behind the version script.
noinst_LTLIBRARIES += libpgas.la
libpgas_la_SOURCES = \
	include/shmem_types.def \
	pgas/threads/amo.h pgas/threads/atomic.h pgas/threads/pause.h \
	pgas/datatype/copy.c pgas/datatype/copy.h pgas/datatype/copy_x86.h \
	pgas/datatype/isa.c pgas/datatype/isa.h pgas/datatype/isa_cpu.h \
	pgas/datatype/op.c pgas/datatype/op.h \
	pgas/datatype/op_isas.h pgas/datatype/op_table.h \
	pgas/core/agree.c pgas/core/agree.h \
	pgas/core/alloc.c pgas/core/alloc.h \
	pgas/core/block.c pgas/core/block.h \
	pgas/core/boot.c pgas/core/boot.h pgas/core/boot_nodes.c pgas/core/boot_pmix.h \
	pgas/core/check.c pgas/core/check.def pgas/core/check.h \
	pgas/core/check_kinds.c pgas/core/check_kinds.h \
	pgas/core/clock.h \
	pgas/core/coredump.c pgas/core/coredump.h \
	pgas/core/ctx.c pgas/core/ctx.h \
	pgas/core/data.c pgas/core/data.h \
	pgas/core/env.c pgas/core/env.def pgas/core/env.h \
	pgas/core/environ.c pgas/core/environ.h \
	pgas/core/fork.c \
	pgas/core/guard.c pgas/core/guard.h \
	pgas/core/heap.c pgas/core/heap.h \
	pgas/core/init.c pgas/core/init.h \
	pgas/core/log.c pgas/core/log.h \
	pgas/core/net.c pgas/core/net.h pgas/core/net_int.h pgas/core/net_card.c \
	pgas/core/net_ops.c pgas/core/net_thread.c \
	pgas/transport/transport.h pgas/transport/avoid.h pgas/transport/choice.c pgas/transport/choice.h \
	pgas/core/node.h pgas/core/nodeseg.c pgas/core/nodeseg.h \
	pgas/core/peer.c pgas/core/peer.h \
	pgas/core/pgas.h pgas/core/pgas_assert.h pgas/core/self.c \
	pgas/core/place.c pgas/core/place.h \
	pgas/core/pool.c pgas/core/pool.h \
	pgas/core/segment.c pgas/core/segment.h \
	pgas/core/slot.c pgas/core/slot.h \
	pgas/core/stress.c pgas/core/stress.h \
	pgas/core/team.c pgas/core/team.h \
	pgas/core/tree.c pgas/core/tree.h \
	pgas/rma/api.h \
	pgas/rma/amo_at.c pgas/rma/amo_at.h pgas/rma/api_amo.c pgas/rma/api_ctx.c \
	pgas/rma/api_order.c pgas/rma/order.h pgas/rma/lock.c pgas/rma/lock.h \
	pgas/rma/api_rma.c pgas/rma/rma.c pgas/rma/rma.h \
	pgas/rma/api_signal.c pgas/rma/signal.c pgas/rma/signal.h \
	pgas/rma/api_strided.c pgas/rma/strided.c pgas/rma/strided.h \
	pgas/rma/api_wait.c pgas/rma/compare.h \
	pgas/rma/wait.c pgas/rma/wait.h pgas/rma/wait_set.c pgas/rma/wait_set.h \
	pgas/coll/active.c pgas/coll/active.h \
	pgas/coll/adapt.c pgas/coll/adapt.h \
	pgas/coll/alltoall.c pgas/coll/alltoall.h \
	pgas/coll/alltoall_far.c pgas/coll/alltoall_far.h \
	pgas/coll/alltoalls.c \
	pgas/coll/api_coll.c pgas/coll/api_deprecated.c pgas/coll/api_life.c pgas/coll/api_team.c \
	pgas/coll/life.c pgas/coll/life.h \
	pgas/coll/meet.c pgas/coll/meet.h \
	pgas/coll/arrival.c pgas/coll/arrival.h \
	pgas/coll/barrier.c pgas/coll/barrier.h \
	pgas/coll/bcast.c pgas/coll/bcast.h pgas/coll/bcast_far.c pgas/coll/bcast_far.h \
	pgas/coll/board.c pgas/coll/board.h \
	pgas/coll/bridge.c pgas/coll/bridge.h \
	pgas/coll/collect.c pgas/coll/collect.h \
	pgas/coll/collect_far.c pgas/coll/collect_far.h \
	pgas/coll/hop.c pgas/coll/hop.h \
	pgas/coll/look.c pgas/coll/look.h \
	pgas/coll/mem.c pgas/coll/mem.h \
	pgas/coll/nb.c pgas/coll/nb.h pgas/coll/nb_int.h pgas/coll/nb_data.c \
	pgas/coll/nb_ops.c pgas/coll/nb_tree.c \
	pgas/coll/pick.c pgas/coll/pick.def pgas/coll/pick.h \
	pgas/coll/pick_table.c pgas/coll/pick_table.h \
	pgas/coll/reduce.c pgas/coll/reduce.h pgas/coll/reduce_int.h pgas/coll/reduce_chain.c \
	pgas/coll/reduce_far.c pgas/coll/reduce_flat.c pgas/coll/reduce_lead.c \
	pgas/coll/reduce_hops.c pgas/coll/reduce_relay.c pgas/coll/reduce_slices.c \
	pgas/coll/remote.c pgas/coll/remote.h \
	pgas/coll/room.c pgas/coll/room.h \
	pgas/coll/roster.c pgas/coll/roster.h \
	pgas/coll/scan.c pgas/coll/scan.h pgas/coll/slice.h \
	pgas/coll/api_shared.c pgas/coll/shared.c pgas/coll/shared.h pgas/coll/shared_int.h \
	pgas/coll/shared_far.c pgas/coll/shared_near.c \
	pgas/coll/stage.c pgas/coll/stage.h \
	pgas/coll/split.c pgas/coll/split.h
# The arrival profile: recording only; tools/oshprof makes the report.
libpgas_la_SOURCES += \
	pgas/profile/profile.c pgas/profile/profile.h pgas/profile/profile_file.h \
	pgas/profile/profile_gather.c pgas/profile/profile_int.h \
	pgas/profile/profile_site.c pgas/profile/profile_team.c
libpgas_la_SOURCES += \
	pgas/transport/perform.h \
	pgas/transport/test/hook.c pgas/transport/test/hook.h \
	pgas/transport/test/hook_faults.c \
	pgas/transport/test/hook_int.h pgas/transport/test/hook_post.c \
	pgas/transport/test/random.h pgas/transport/test/shm.c
if HAVE_UCX
libpgas_la_SOURCES += \
	pgas/transport/ucx/ucx.c pgas/transport/ucx/ucx.h \
	pgas/transport/ucx/ucx_address.c pgas/transport/ucx/ucx_am.c pgas/transport/ucx/ucx_config.c \
	pgas/transport/ucx/ucx_ctx.c pgas/transport/ucx/ucx_op.c pgas/transport/ucx/ucx_peer.c \
	pgas/transport/ucx/ucx_lib.c \
	pgas/transport/ucx/ucx_signals.c
else
libpgas_la_SOURCES += pgas/transport/ucx/ucx_absent.c
endif
if HAVE_OFI
libpgas_la_SOURCES += \
	pgas/transport/ofi/ofi.c pgas/transport/ofi/ofi.h pgas/transport/ofi/ofi_address.c \
	pgas/transport/ofi/ofi_am.c pgas/transport/ofi/ofi_amo.c pgas/transport/ofi/ofi_ctx.c \
	pgas/transport/ofi/ofi_lib.c \
	pgas/transport/ofi/ofi_peer.c pgas/transport/ofi/ofi_progress.c pgas/transport/ofi/ofi_rma.c \
	pgas/transport/ofi/ofi_select.c
else
libpgas_la_SOURCES += pgas/transport/ofi/ofi_absent.c
endif
libpgas_la_CPPFLAGS = $(AM_CPPFLAGS) -DPGAS_SYSCONFDIR='"$(sysconfdir)"' $(PMIX_CFLAGS) $(UCX_CFLAGS) $(OFI_CFLAGS)
libpgas_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden -fno-math-errno
libpgas_la_LIBADD = $(op_libraries)

# The reduction kernels: one source, and a library for each set of compiler flags.  No
# multiplication is fused with an addition: all give the same bits.
OP_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden -fno-math-errno -ffp-contract=off
op_source = pgas/datatype/op_kernels.h pgas/datatype/op_pairs.h pgas/datatype/op_table.h

noinst_LTLIBRARIES += libop_base.la
libop_base_la_SOURCES = pgas/datatype/op_base.c pgas/datatype/op_rest.c $(op_source)
libop_base_la_CFLAGS = $(OP_CFLAGS)
op_libraries = libop_base.la
if CPU_X86_64
noinst_LTLIBRARIES += libop_avx2.la libop_avx512.la
libop_avx2_la_SOURCES = pgas/datatype/op_avx2.c $(op_source)
libop_avx2_la_CFLAGS = $(OP_CFLAGS) -mavx2
libop_avx512_la_SOURCES = pgas/datatype/op_avx512.c $(op_source)
libop_avx512_la_CFLAGS = $(OP_CFLAGS) -mavx512f -mavx512bw -mavx512dq -mavx512vl \
	-mprefer-vector-width=512
op_libraries += libop_avx2.la libop_avx512.la
endif
if CPU_AARCH64
noinst_LTLIBRARIES += libop_sve.la
libop_sve_la_SOURCES = pgas/datatype/op_sve.c $(op_source)
libop_sve_la_CFLAGS = $(OP_CFLAGS) -march=armv8.2-a+sve
op_libraries += libop_sve.la
endif

# The same without vectors, for benchmarks alone.
noinst_LTLIBRARIES += libop_scalar.la
libop_scalar_la_SOURCES = pgas/datatype/op_scalar.c $(op_source)
libop_scalar_la_CFLAGS = $(OP_CFLAGS) -fno-tree-vectorize -fno-tree-slp-vectorize

# The simulated PEs, for tests alone.
noinst_LTLIBRARIES += libsim.la
libsim_la_SOURCES = \
	pgas/transport/test/sim.c pgas/transport/test/sim.h pgas/transport/test/sim_int.h \
	pgas/transport/test/sim_ops.c
libsim_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden

lib_LTLIBRARIES += libshmem.la
libshmem_la_SOURCES =
libshmem_la_LIBADD = libpgas.la $(PMIX_LIBS) -lpthread
libshmem_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 \
	-Wl,--version-script=$(srcdir)/pgas/libshmem.map
libshmem_la_DEPENDENCIES = libpgas.la $(srcdir)/pgas/libshmem.map
EXTRA_DIST += pgas/libshmem.map
