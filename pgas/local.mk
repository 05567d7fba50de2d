# SPDX-License-Identifier: BSD-3-Clause
# The library.  libpgas.la has all of it with its internal names, for the unit tests;
# libshmem.la is the same objects behind the version script.
noinst_LTLIBRARIES += libpgas.la
pgas_sources = \
	include/shmem_types.def \
	pgas/threads/adaptive.c pgas/threads/adaptive.h pgas/threads/amo.h pgas/threads/atomic.h \
	pgas/threads/futex.h pgas/threads/mcs.c pgas/threads/mcs.h pgas/threads/mpsc.h \
	pgas/threads/pause.h pgas/threads/spsc.h pgas/threads/ticket.c pgas/threads/ticket.h \
	pgas/datatype/copy.c pgas/datatype/copy.h pgas/datatype/copy_aligned.h pgas/datatype/copy_isas.h pgas/datatype/copy_x86.h \
	pgas/datatype/isa.c pgas/datatype/isa.h pgas/datatype/isa_cpu.h \
	pgas/datatype/layout/layout.c pgas/datatype/layout/layout.h \
	pgas/datatype/layout/layout_cursor.c pgas/datatype/layout/layout_cursor.h \
	pgas/datatype/layout/layout_overlap.c \
	pgas/datatype/layout/layout_wire.c pgas/datatype/layout/layout_wire.h \
	pgas/datatype/op/op.c pgas/datatype/op/op.h \
	pgas/datatype/op/op_isas.h pgas/datatype/op/op_table.h \
	pgas/datatype/pack/pack.c pgas/datatype/pack/pack.h \
	pgas/datatype/pack/pack_indexed.c pgas/datatype/pack/pack_indexed.h \
	pgas/datatype/pack/pack_choice.c pgas/datatype/pack/pack_choice.h pgas/datatype/pack/pack_isas.h \
	pgas/datatype/pack/pack_file.c pgas/datatype/pack/pack_file.h \
	pgas/datatype/pack/pack_plan.c pgas/datatype/pack/pack_plan.h pgas/datatype/pack/pack_route.h \
	pgas/datatype/pack/pack_ticks.h pgas/datatype/pack/pack_tune.c pgas/datatype/pack/pack_tune.h \
	pgas/core/boot/agree.c pgas/core/boot/agree.h \
	pgas/core/memory/alloc.c pgas/core/memory/alloc.h \
	pgas/core/progress/alive.h \
	pgas/core/progress/block.c pgas/core/progress/block.h \
	pgas/core/progress/block_sleep.c pgas/core/progress/block_sleep.h \
	pgas/core/progress/progress.h \
	pgas/core/boot/boot.h pgas/core/boot/boot_pmix.h \
	pgas/core/base/call_site.c pgas/core/base/call_site.h \
	pgas/core/check/check.c pgas/core/check/check.def pgas/core/check/check.h \
	pgas/core/check/check_kinds.c pgas/core/check/check_kinds.h \
	pgas/core/base/clock.h pgas/core/base/os.h \
	pgas/core/memory/coredump.c pgas/core/memory/coredump.h \
	pgas/core/memory/placement.c pgas/core/memory/placement.h \
	pgas/core/team/ctx.c pgas/core/team/ctx.h \
	pgas/core/memory/data.h \
	pgas/core/base/env.c pgas/core/base/env.def pgas/core/base/env.h \
	pgas/core/base/environ.c pgas/core/base/environ.h \
	pgas/core/memory/guard.h \
	pgas/core/memory/heap.c pgas/core/memory/heap.h \
	pgas/core/base/hash.h pgas/core/base/log.c pgas/core/base/log.h pgas/core/base/number.h \
	pgas/core/progress/net.c pgas/core/progress/net.h pgas/core/progress/net_int.h pgas/core/progress/net_endpoint.c pgas/core/progress/net_lookup.c \
	pgas/core/progress/net_ops.c pgas/core/progress/net_poll.c pgas/core/progress/net_pool.c \
	pgas/core/progress/net_quiet.c \
	pgas/core/progress/net_lost.c \
	pgas/core/progress/liveness.c pgas/core/progress/net_limit.c pgas/core/progress/patience.c \
	pgas/core/base/timing.def pgas/core/base/timing.h \
	pgas/transport/transport.h pgas/transport/avoid.h pgas/transport/choice.c pgas/transport/choice.h \
	pgas/transport/prefer.c pgas/transport/prefer.h \
	pgas/core/boot/node.h pgas/core/boot/nodeseg.c pgas/core/boot/nodeseg.h \
	pgas/core/memory/peer.c pgas/core/memory/peer.h \
	pgas/core/base/pgas.h pgas/core/base/pgas_assert.h pgas/core/base/self.c pgas/core/core_state.h \
	pgas/core/boot/binding.h pgas/core/boot/locality.h \
	pgas/core/base/pool.c pgas/core/base/pool.h \
	pgas/core/memory/segment.h \
	pgas/core/memory/symaddr.h \
	pgas/core/team/slot.c pgas/core/team/slot.h \
	pgas/core/base/stress.c pgas/core/base/counter.h pgas/core/base/stress.h \
	pgas/core/team/team.c pgas/core/team/team.h \
	pgas/core/base/treap.c pgas/core/base/treap.h \
	pgas/ft/ft.c pgas/ft/ft.h pgas/ft/ft_commit.c pgas/ft/ft_commit.h pgas/ft/ft_guard.c \
	pgas/ft/ft_handler.h pgas/ft/ft_map.c pgas/ft/ft_map.h pgas/ft/ft_temp.c pgas/ft/ft_temp.h \
	pgas/ft/ft_watch.h \
	pgas/rma/api.h \
	pgas/rma/amo_at.c pgas/rma/amo_at.h pgas/rma/api/api_amo.c pgas/rma/api/api_ctx.c \
	pgas/rma/api/api_order.c pgas/rma/order.h pgas/rma/lock.c pgas/rma/lock.h pgas/rma/lock_owner.c pgas/rma/lock_owner.h \
	pgas/rma/api/api_layout.c pgas/rma/layouts.c pgas/rma/layouts.h \
	pgas/rma/api/api_rma.c pgas/rma/rma.c pgas/rma/rma.h \
	pgas/rma/api/api_signal.c pgas/rma/signal.c pgas/rma/signal.h \
	pgas/rma/api/api_strided.c pgas/rma/blocks.c pgas/rma/blocks.h pgas/rma/strided.c pgas/rma/strided.h \
	pgas/rma/api/api_wait.c pgas/rma/compare.h \
	pgas/rma/wait.c pgas/rma/wait.h pgas/rma/wait_set.c pgas/rma/wait_set.h \
	pgas/coll/api/active.c pgas/coll/api/active.h pgas/coll/api/coll_state.c pgas/coll/api/coll_state.h \
	pgas/coll/select/adapt.c pgas/coll/select/adapt.h \
	pgas/coll/algorithms/alltoall.c pgas/coll/algorithms/alltoall.h \
	pgas/coll/algorithms/alltoall_internode.c pgas/coll/algorithms/alltoall_internode.h \
	pgas/coll/algorithms/alltoalls.c \
	pgas/coll/api/api_coll.c pgas/coll/api/api_deprecated.c pgas/coll/api/api_ft.c pgas/coll/api/api_life.c pgas/coll/api/api_team.c \
	pgas/coll/api/life.c pgas/coll/api/life.h \
	pgas/coll/api/life_pack.c pgas/coll/api/life_pack.h \
	pgas/coll/api/shrink.c pgas/coll/api/shrink.h \
	pgas/coll/api/verify.c pgas/coll/api/verify.h \
	pgas/coll/sync/forwarder.c pgas/coll/sync/forwarder.h \
	pgas/coll/sync/arrival.c pgas/coll/sync/arrival.h pgas/coll/sync/credit.h \
	pgas/coll/sync/barrier.c pgas/coll/sync/barrier.h \
	pgas/coll/algorithms/bcast.c pgas/coll/algorithms/bcast.h pgas/coll/algorithms/bcast_internode.c pgas/coll/algorithms/bcast_internode.h \
	pgas/coll/sync/mailbox.c pgas/coll/sync/mailbox.h \
	pgas/coll/groups/groups.c pgas/coll/groups/groups.h pgas/coll/groups/reduce_groups.c \
	pgas/coll/groups/node_barrier.c pgas/coll/groups/node_barrier.h \
	pgas/coll/sync/internode.c pgas/coll/sync/internode.h \
	pgas/coll/algorithms/collect.c pgas/coll/algorithms/collect.h \
	pgas/coll/algorithms/collect_internode.c pgas/coll/algorithms/collect_internode.h \
	pgas/coll/ordered/ordered_internode.c pgas/coll/ordered/ordered_internode.h \
	pgas/coll/sync/leader_msg.c pgas/coll/sync/leader_msg.h \
	pgas/coll/sync/probe.c pgas/coll/sync/probe.h \
	pgas/coll/api/symheap.c pgas/coll/api/symheap.h \
	pgas/coll/nonblocking/nb.c pgas/coll/nonblocking/nb.h pgas/coll/nonblocking/nb_int.h pgas/coll/nonblocking/nb_steps.c \
	pgas/coll/nonblocking/nb_ops.c \
	pgas/coll/select/select.c pgas/coll/select/select.def pgas/coll/select/select.h \
	pgas/coll/select/select_table.c pgas/coll/select/select_table.h \
	pgas/coll/algorithms/reduce.c pgas/coll/algorithms/reduce.h pgas/coll/algorithms/reduce_int.h pgas/coll/algorithms/reduce_chain.c \
	pgas/coll/algorithms/reduce_internode.c pgas/coll/algorithms/reduce_combiner.c \
	pgas/coll/algorithms/reduce_leaders.c pgas/coll/algorithms/reduce_leaders_chain.c pgas/coll/algorithms/reduce_buffered.c pgas/coll/algorithms/reduce_slices.c \
	pgas/coll/sync/remote.c pgas/coll/sync/remote.h \
	pgas/coll/schedule/executor.c pgas/coll/schedule/executor.h \
	pgas/coll/schedule/leader_job.c pgas/coll/schedule/leader_job.h \
	pgas/coll/schedule/schedule.c pgas/coll/schedule/schedule.h pgas/coll/schedule/schedule_chain.c pgas/coll/schedule/schedule_data.c \
	pgas/coll/schedule/schedule_int.h pgas/coll/schedule/schedule_power.c pgas/coll/schedule/schedule_pull.c pgas/coll/schedule/schedule_reduce.c \
	pgas/coll/sync/scratch.c pgas/coll/sync/scratch.h \
	pgas/coll/sync/team_coll.c pgas/coll/sync/team_coll.h \
	pgas/coll/sync/allgather.c pgas/coll/sync/allgather.h \
	pgas/coll/algorithms/scan.c pgas/coll/algorithms/scan.h pgas/coll/algorithms/slice.h \
	pgas/coll/shared/api_shared.c pgas/coll/shared/shared.c pgas/coll/shared/shared.h pgas/coll/shared/shared_int.h \
	pgas/coll/shared/shared_internode.c pgas/coll/shared/shared_node.c \
	pgas/coll/sync/bounce.c pgas/coll/sync/bounce.h \
	pgas/coll/api/split.c pgas/coll/api/split.h
# The arrival profile: recording only; tools/oshprof makes the report.
pgas_sources += \
	pgas/profile/profile.c pgas/profile/profile.h pgas/profile/profile_file.h \
	pgas/profile/profile_gather.c pgas/profile/profile_int.h \
	pgas/profile/profile_site.c pgas/profile/profile_team.c
pgas_sources += \
	pgas/transport/perform.h pgas/transport/perform_blocks.c pgas/transport/perform_blocks.h \
	pgas/transport/test/hook.c pgas/transport/test/hook.h \
	pgas/transport/test/hook_faults.c \
	pgas/transport/test/hook_int.h pgas/transport/test/hook_post.c \
	pgas/transport/test/random.h pgas/transport/test/shm.c
# What a simulated job (tests/sim) replaces: launcher, processes, memory, progress thread,
# local watch of failures.
pgas_process_sources = \
	pgas/core/memory/segment.c \
	pgas/core/boot/binding.c pgas/core/boot/locality.c pgas/core/boot/boot.c pgas/core/boot/boot_events.c pgas/core/boot/boot_nodes.c \
	pgas/core/memory/data.c pgas/core/memory/fork.c pgas/core/memory/guard.c \
	pgas/core/progress/net_thread.c pgas/transport/list.c \
	pgas/transport/tcp/tcp.c pgas/transport/tcp/tcp.h pgas/transport/tcp/tcp_auth.c \
	pgas/transport/tcp/tcp_client.c \
	pgas/transport/tcp/tcp_ctx.c pgas/transport/tcp/tcp_endpoint.c pgas/transport/tcp/tcp_input.c \
	pgas/transport/tcp/tcp_listen.c pgas/transport/tcp/tcp_lost.c pgas/transport/tcp/tcp_output.c pgas/transport/tcp/tcp_peer.c \
	pgas/transport/tcp/tcp_post.c pgas/transport/tcp/tcp_reply.c pgas/transport/tcp/tcp_serve.c \
	pgas/transport/tcp/tcp_serve_run.c \
	pgas/transport/tcp/tcp_stream.h pgas/transport/tcp/tcp_wire.h \
	pgas/ft/ft_boot.c pgas/ft/ft_boot.h \
	pgas/ft/ft_handler.c pgas/ft/ft_watch.c
libpgas_la_SOURCES = $(pgas_sources) $(pgas_process_sources)
if HAVE_UCX
libpgas_la_SOURCES += \
	pgas/transport/ucx/ucx.c pgas/transport/ucx/ucx.h \
	pgas/transport/ucx/ucx_address.c pgas/transport/ucx/ucx_am.c pgas/transport/ucx/ucx_config.c \
	pgas/transport/ucx/ucx_ctx.c pgas/transport/ucx/ucx_op.c pgas/transport/ucx/ucx_peer.c \
	pgas/transport/ucx/ucx_request.c \
	pgas/transport/ucx/ucx_lib.c \
	pgas/transport/ucx/ucx_signals.c
else
libpgas_la_SOURCES += pgas/transport/ucx/ucx_absent.c
endif
if HAVE_OFI
libpgas_la_SOURCES += \
	pgas/transport/ofi/ofi.c pgas/transport/ofi/ofi.h pgas/transport/ofi/ofi_address.c \
	pgas/transport/ofi/ofi_am.c pgas/transport/ofi/ofi_amo.c pgas/transport/ofi/ofi_blocks.c \
	pgas/transport/ofi/ofi_blocks.h pgas/transport/ofi/ofi_ctx.c pgas/transport/ofi/ofi_window.c \
	pgas/transport/ofi/ofi_lib.c pgas/transport/ofi/ofi_lost.c \
	pgas/transport/ofi/ofi_peer.c pgas/transport/ofi/ofi_progress.c \
	pgas/transport/ofi/ofi_reply.c pgas/transport/ofi/ofi_rma.c pgas/transport/ofi/ofi_select.c
else
libpgas_la_SOURCES += pgas/transport/ofi/ofi_absent.c
endif
libpgas_la_CPPFLAGS = $(AM_CPPFLAGS) -DPGAS_SYSCONFDIR='"$(sysconfdir)"' $(PMIX_CFLAGS) $(UCX_CFLAGS) $(OFI_CFLAGS)
libpgas_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden -fno-math-errno
libpgas_la_LIBADD = $(op_libraries) libft.la

# The failure protocols, which are pure step functions, and the agent that runs them.  The
# launcher links them, and so does the simulator (tests/ft), without the rest of the library.
# ft_step_sources: without sockets, threads or clock.
ft_step_sources = \
	pgas/ft/protocol/ft_agree.c pgas/ft/protocol/ft_agree.h pgas/ft/protocol/ft_bmg.c pgas/ft/protocol/ft_bmg.h \
	pgas/ft/protocol/ft_proto.c pgas/ft/protocol/ft_proto.h pgas/ft/protocol/ft_proto_int.h \
	pgas/ft/protocol/ft_proto_receive.c pgas/ft/protocol/ft_proto_send.c \
	pgas/ft/protocol/ft_ring.c pgas/ft/protocol/ft_ring.h pgas/ft/ft_types.h \
	pgas/ft/agent/ft_service.c pgas/ft/agent/ft_service.h pgas/ft/agent/ft_service_pe.c pgas/ft/agent/ft_service_commit.c \
	pgas/ft/protocol/ft_wire.c pgas/ft/protocol/ft_wire.h
noinst_LTLIBRARIES += libft.la
libft_la_SOURCES = $(ft_step_sources) \
	pgas/core/base/address.c pgas/core/base/address.h \
	pgas/core/base/seal.c pgas/core/base/seal.h \
	pgas/ft/agent/ft_agent.c pgas/ft/agent/ft_agent.h pgas/ft/agent/ft_agent_int.h pgas/ft/agent/ft_agent_pe.c \
	pgas/ft/agent/ft_domain.c pgas/ft/agent/ft_domain.h \
	pgas/ft/agent/ft_mesh.c pgas/ft/agent/ft_mesh.h pgas/ft/agent/ft_mesh_auth.c pgas/ft/agent/ft_mesh_int.h \
	pgas/ft/agent/ft_mesh_link.c pgas/ft/agent/ft_mesh_listen.c
libft_la_CPPFLAGS = $(AM_CPPFLAGS) $(NETTLE_CFLAGS)
libft_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden

# The reduction kernels: one source, and a library for each set of compiler flags.  No
# multiplication is fused with an addition: all give the same bits.
OP_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden -fno-math-errno -ffp-contract=off
PACK_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
pack_source = pgas/datatype/pack/pack_fixed.h pgas/datatype/pack/pack_index.h pgas/datatype/pack/pack_permute.h \
	pgas/datatype/pack/pack_table.h
op_source = pgas/datatype/op/op_kernels.h pgas/datatype/op/op_pairs.h pgas/datatype/op/op_table.h

noinst_LTLIBRARIES += libop_base.la
libop_base_la_SOURCES = pgas/datatype/op/op_base.c pgas/datatype/op/op_rest.c $(op_source)
libop_base_la_CFLAGS = $(OP_CFLAGS)
# The pack kernels, likewise.
noinst_LTLIBRARIES += libpack_base.la
libpack_base_la_SOURCES = pgas/datatype/pack/pack_base.c $(pack_source)
libpack_base_la_CFLAGS = $(PACK_CFLAGS)
op_libraries = libop_base.la libpack_base.la
if CPU_X86_64
noinst_LTLIBRARIES += libop_avx2.la libop_avx512.la libpack_avx2.la libpack_avx512.la libpack_vbmi.la
libpack_avx2_la_SOURCES = pgas/datatype/pack/pack_avx2.c $(pack_source)
libpack_avx2_la_CFLAGS = $(PACK_CFLAGS) -mavx2
libpack_avx512_la_SOURCES = pgas/datatype/pack/pack_avx512.c pgas/datatype/pack/pack_permute_avx512.c $(pack_source)
libpack_avx512_la_CFLAGS = $(PACK_CFLAGS) -mavx512f -mavx512bw -mavx512dq -mavx512vl
libpack_vbmi_la_SOURCES = pgas/datatype/pack/pack_permute_vbmi.c $(pack_source)
libpack_vbmi_la_CFLAGS = $(libpack_avx512_la_CFLAGS) -mavx512vbmi
libop_avx2_la_SOURCES = pgas/datatype/op/op_avx2.c $(op_source)
libop_avx2_la_CFLAGS = $(OP_CFLAGS) -mavx2
libop_avx512_la_SOURCES = pgas/datatype/op/op_avx512.c $(op_source)
libop_avx512_la_CFLAGS = $(OP_CFLAGS) -mavx512f -mavx512bw -mavx512dq -mavx512vl \
	-mprefer-vector-width=512
op_libraries += libop_avx2.la libop_avx512.la libpack_avx2.la libpack_avx512.la libpack_vbmi.la
endif
if CPU_AARCH64
noinst_LTLIBRARIES += libop_sve.la libpack_sve.la
libpack_sve_la_SOURCES = pgas/datatype/pack/pack_sve.c $(pack_source)
libpack_sve_la_CFLAGS = $(PACK_CFLAGS) -march=armv8.2-a+sve
libop_sve_la_SOURCES = pgas/datatype/op/op_sve.c $(op_source)
libop_sve_la_CFLAGS = $(OP_CFLAGS) -march=armv8.2-a+sve
op_libraries += libop_sve.la libpack_sve.la
endif

# The same without vectors, for benchmarks alone.
noinst_LTLIBRARIES += libop_scalar.la
libop_scalar_la_SOURCES = pgas/datatype/op/op_scalar.c $(op_source)
libop_scalar_la_CFLAGS = $(OP_CFLAGS) -fno-tree-vectorize -fno-tree-slp-vectorize

# The simulated PEs, for tests alone.
noinst_LTLIBRARIES += libsim.la
libsim_la_SOURCES = \
	pgas/transport/test/sim.c pgas/transport/test/sim.h pgas/transport/test/sim_int.h \
	pgas/transport/test/sim_ops.c
libsim_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden

lib_LTLIBRARIES += libshmem.la
libshmem_la_SOURCES =
libshmem_la_LIBADD = libpgas.la $(PMIX_LIBS) $(NETTLE_LIBS) -lpthread
# nodelete: the process keeps pointers into the library when a program has closed it with
# dlclose: variables of its environment, exit and fork handlers, handlers of signals.
libshmem_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -Wl,-z,nodelete \
	-Wl,--version-script=$(srcdir)/pgas/libshmem.map
libshmem_la_DEPENDENCIES = libpgas.la $(srcdir)/pgas/libshmem.map
EXTRA_DIST += pgas/libshmem.map
