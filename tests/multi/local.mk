# SPDX-License-Identifier: BSD-3-Clause
# tests/multi/local.mk - programs that tests/run-pes runs with several numbers of PEs, and
# scripts around them.  They link like a user's program, to run without libtool's wrapper.
pes_link = $(AM_LDFLAGS) -no-install

check_PROGRAMS += tests/multi/amo_contended.pes
tests_multi_amo_contended_pes_SOURCES = tests/multi/amo_contended.c tests/multi/amo.h \
	tests/multi/check.h
tests_multi_amo_contended_pes_LDADD = libshmem.la
tests_multi_amo_contended_pes_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/multi/amo_values.pes
tests_multi_amo_values_pes_SOURCES = tests/multi/amo_values.c tests/multi/amo.h \
	tests/multi/check.h
tests_multi_amo_values_pes_LDADD = libshmem.la
tests_multi_amo_values_pes_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/multi/barrier.pes
tests_multi_barrier_pes_SOURCES = tests/multi/barrier.c tests/multi/coll.h tests/multi/check.h
tests_multi_barrier_pes_LDADD = libshmem.la
tests_multi_barrier_pes_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/multi/bcast.pes
tests_multi_bcast_pes_SOURCES = tests/multi/bcast.c tests/multi/coll.h tests/multi/check.h
tests_multi_bcast_pes_LDADD = libshmem.la
tests_multi_bcast_pes_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/multi/coll_mix.pes
tests_multi_coll_mix_pes_SOURCES = tests/multi/coll_mix.c tests/multi/coll.h tests/multi/check.h
tests_multi_coll_mix_pes_LDADD = libpgas.la $(PMIX_LIBS) -lpthread
tests_multi_coll_mix_pes_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/multi/generic.pes
tests_multi_generic_pes_SOURCES = tests/multi/generic.c tests/multi/check.h
tests_multi_generic_pes_LDADD = libshmem.la
tests_multi_generic_pes_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/multi/globals.pes
tests_multi_globals_pes_SOURCES = tests/multi/globals.c tests/multi/check.h
tests_multi_globals_pes_LDADD = libshmem.la
tests_multi_globals_pes_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/multi/heap.pes
tests_multi_heap_pes_SOURCES = tests/multi/heap.c tests/multi/check.h
tests_multi_heap_pes_LDADD = libshmem.la
tests_multi_heap_pes_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/multi/interpose.pes
tests_multi_interpose_pes_SOURCES = tests/multi/interpose.c tests/multi/check.h
tests_multi_interpose_pes_LDADD = libshmem.la
tests_multi_interpose_pes_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/multi/life.pes
tests_multi_life_pes_SOURCES = tests/multi/life.c tests/multi/check.h
tests_multi_life_pes_LDADD = libshmem.la
tests_multi_life_pes_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/multi/lock.pes
tests_multi_lock_pes_SOURCES = tests/multi/lock.c tests/multi/check.h
tests_multi_lock_pes_LDADD = libshmem.la
tests_multi_lock_pes_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/multi/order.pes
tests_multi_order_pes_SOURCES = tests/multi/order.c tests/multi/check.h
tests_multi_order_pes_LDADD = libshmem.la
tests_multi_order_pes_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/multi/query.pes
tests_multi_query_pes_SOURCES = tests/multi/query.c tests/multi/check.h
tests_multi_query_pes_LDADD = libshmem.la
tests_multi_query_pes_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/multi/reduce.pes
tests_multi_reduce_pes_SOURCES = tests/multi/reduce.c tests/multi/coll.h tests/multi/check.h
tests_multi_reduce_pes_LDADD = libshmem.la
tests_multi_reduce_pes_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/multi/signal.pes
tests_multi_signal_pes_SOURCES = tests/multi/signal.c tests/multi/check.h
tests_multi_signal_pes_LDADD = libshmem.la
tests_multi_signal_pes_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/multi/sizes.pes
tests_multi_sizes_pes_SOURCES = tests/multi/sizes.c tests/multi/check.h
tests_multi_sizes_pes_LDADD = libshmem.la
tests_multi_sizes_pes_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/multi/threads.pes
tests_multi_threads_pes_SOURCES = tests/multi/threads.c tests/multi/check.h
tests_multi_threads_pes_LDADD = libshmem.la -lpthread
tests_multi_threads_pes_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/multi/strided.pes
tests_multi_strided_pes_SOURCES = tests/multi/strided.c tests/multi/check.h
tests_multi_strided_pes_LDADD = libshmem.la
tests_multi_strided_pes_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/multi/types.pes
tests_multi_types_pes_SOURCES = tests/multi/types.c tests/multi/check.h
tests_multi_types_pes_LDADD = libshmem.la
tests_multi_types_pes_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/multi/wait.pes
tests_multi_wait_pes_SOURCES = tests/multi/wait.c tests/multi/wait.h tests/multi/check.h
tests_multi_wait_pes_LDADD = libshmem.la
tests_multi_wait_pes_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/multi/wait_peers.pes
tests_multi_wait_peers_pes_SOURCES = tests/multi/wait_peers.c tests/multi/wait.h \
	tests/multi/check.h
tests_multi_wait_peers_pes_LDADD = libshmem.la -lpthread
tests_multi_wait_peers_pes_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/multi/wait_set.pes
tests_multi_wait_set_pes_SOURCES = tests/multi/wait_set.c tests/multi/wait.h \
	tests/multi/check.h
tests_multi_wait_set_pes_LDADD = libshmem.la
tests_multi_wait_set_pes_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/multi/wake.pes
tests_multi_wake_pes_SOURCES = tests/multi/wake.c tests/multi/check.h
tests_multi_wake_pes_LDADD = libshmem.la
tests_multi_wake_pes_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/multi/exits
tests_multi_exits_SOURCES = tests/multi/exits.c tests/multi/check.h
tests_multi_exits_LDADD = libshmem.la
tests_multi_exits_LDFLAGS = $(pes_link)

pes_tests = \
	tests/multi/amo_contended.pes \
	tests/multi/amo_values.pes \
	tests/multi/barrier.pes \
	tests/multi/bcast.pes \
	tests/multi/generic.pes \
	tests/multi/globals.pes \
	tests/multi/heap.pes \
	tests/multi/interpose.pes \
	tests/multi/life.pes \
	tests/multi/lock.pes \
	tests/multi/order.pes \
	tests/multi/query.pes \
	tests/multi/reduce.pes \
	tests/multi/signal.pes \
	tests/multi/sizes.pes \
	tests/multi/threads.pes \
	tests/multi/strided.pes \
	tests/multi/types.pes \
	tests/multi/wait.pes \
	tests/multi/wait_peers.pes \
	tests/multi/wait_set.pes \
	tests/multi/wake.pes
pes_scripts = \
	tests/multi/cxx.sh \
	tests/multi/examples.sh \
	tests/multi/exits.sh \
	tests/multi/foreign.sh \
	tests/multi/links.sh \
	tests/multi/runner.sh \
	tests/multi/wide.sh

TESTS += $(pes_tests) $(pes_scripts)
EXTRA_DIST += tests/run-pes tests/multi/sizes.txt tests/multi/cxx.cc $(pes_scripts)

# Teams and contexts
check_PROGRAMS += tests/multi/contexts.pes
tests_multi_contexts_pes_SOURCES = tests/multi/contexts.c tests/multi/teams.h \
	tests/multi/check.h
tests_multi_contexts_pes_LDADD = libshmem.la
tests_multi_contexts_pes_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/multi/contexts_threads.pes
tests_multi_contexts_threads_pes_SOURCES = tests/multi/contexts_threads.c tests/multi/teams.h \
	tests/multi/check.h
tests_multi_contexts_threads_pes_LDADD = libshmem.la -lpthread
tests_multi_contexts_threads_pes_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/multi/teams.pes
tests_multi_teams_pes_SOURCES = tests/multi/teams.c tests/multi/teams.h \
	tests/multi/check.h
tests_multi_teams_pes_LDADD = libshmem.la
tests_multi_teams_pes_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/multi/teams_full.pes
tests_multi_teams_full_pes_SOURCES = tests/multi/teams_full.c tests/multi/teams.h \
	tests/multi/check.h
tests_multi_teams_full_pes_LDADD = libshmem.la
tests_multi_teams_full_pes_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/multi/teams_scratch.pes
tests_multi_teams_scratch_pes_SOURCES = tests/multi/teams_scratch.c tests/multi/teams.h \
	tests/multi/check.h
tests_multi_teams_scratch_pes_LDADD = libshmem.la
tests_multi_teams_scratch_pes_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/multi/teams_many.pes
tests_multi_teams_many_pes_SOURCES = tests/multi/teams_many.c tests/multi/teams.h \
	tests/multi/check.h
tests_multi_teams_many_pes_LDADD = libshmem.la
tests_multi_teams_many_pes_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/multi/teams_leave
tests_multi_teams_leave_SOURCES = tests/multi/teams_leave.c tests/multi/teams.h \
	tests/multi/check.h
tests_multi_teams_leave_LDADD = libshmem.la
tests_multi_teams_leave_LDFLAGS = $(pes_link)

TESTS += tests/multi/contexts.pes tests/multi/contexts_threads.pes tests/multi/teams.pes \
	tests/multi/teams_full.pes tests/multi/teams_many.pes tests/multi/teams_scratch.pes \
	tests/multi/teams_leave.sh
EXTRA_DIST += tests/multi/teams_leave.sh

# The collectives
COLL_TESTS = \
	tests/multi/active.pes tests/multi/alltoall.pes tests/multi/arrival_wrap.pes \
	tests/multi/barrier_mix.pes \
	tests/multi/collect.pes tests/multi/deprecated.pes tests/multi/reduce_bits.pes \
	tests/multi/allgather_parts.pes tests/multi/scan.pes
tests_multi_allgather_parts_pes_SOURCES = tests/multi/allgather_parts.c tests/multi/check.h
tests_multi_allgather_parts_pes_LDADD = libpgas.la $(PMIX_LIBS) -lpthread
tests_multi_allgather_parts_pes_LDFLAGS = $(pes_link)
tests_multi_arrival_wrap_pes_SOURCES = tests/multi/arrival_wrap.c tests/multi/check.h
tests_multi_arrival_wrap_pes_LDADD = libpgas.la $(PMIX_LIBS) -lpthread
tests_multi_arrival_wrap_pes_LDFLAGS = $(pes_link)
tests_multi_reduce_bits_pes_SOURCES = tests/multi/reduce_bits.c tests/multi/check.h
tests_multi_reduce_bits_pes_LDADD = libshmem.la
tests_multi_reduce_bits_pes_LDFLAGS = $(pes_link)
check_PROGRAMS += $(COLL_TESTS) tests/multi/active_departed tests/multi/active_many
tests_multi_active_pes_SOURCES = tests/multi/active.c tests/multi/check.h
tests_multi_active_pes_LDADD = libshmem.la
tests_multi_active_pes_LDFLAGS = $(pes_link)
tests_multi_alltoall_pes_SOURCES = tests/multi/alltoall.c \
	tests/multi/coll.h tests/multi/check.h
tests_multi_alltoall_pes_LDADD = libshmem.la
tests_multi_alltoall_pes_LDFLAGS = $(pes_link)
tests_multi_barrier_mix_pes_SOURCES = tests/multi/barrier_mix.c \
	tests/multi/coll.h tests/multi/check.h
tests_multi_barrier_mix_pes_LDADD = libshmem.la -lpthread
tests_multi_barrier_mix_pes_LDFLAGS = $(pes_link)
tests_multi_collect_pes_SOURCES = tests/multi/collect.c \
	tests/multi/coll.h tests/multi/check.h
tests_multi_collect_pes_LDADD = libshmem.la
tests_multi_collect_pes_LDFLAGS = $(pes_link)
tests_multi_deprecated_pes_SOURCES = tests/multi/deprecated.c tests/multi/check.h
tests_multi_deprecated_pes_LDADD = libshmem.la
tests_multi_deprecated_pes_LDFLAGS = $(pes_link)
tests_multi_scan_pes_SOURCES = tests/multi/scan.c tests/multi/coll.h tests/multi/check.h
tests_multi_scan_pes_LDADD = libshmem.la -lm
tests_multi_scan_pes_LDFLAGS = $(pes_link)
tests_multi_active_departed_SOURCES = tests/multi/active_departed.c tests/multi/check.h
tests_multi_active_departed_LDADD = libshmem.la
tests_multi_active_departed_LDFLAGS = $(pes_link)
tests_multi_active_many_SOURCES = tests/multi/active_many.c tests/multi/check.h
tests_multi_active_many_LDADD = libshmem.la -lpthread
tests_multi_active_many_LDFLAGS = $(pes_link)
TESTS += $(COLL_TESTS) tests/multi/active_departed.sh tests/multi/active_many.sh
EXTRA_DIST += tests/multi/active_departed.sh tests/multi/active_many.sh

check_PROGRAMS += tests/multi/again.pes
tests_multi_again_pes_SOURCES = tests/multi/again.c tests/multi/check.h
tests_multi_again_pes_LDADD = libshmem.la
tests_multi_again_pes_LDFLAGS = $(pes_link)
TESTS += tests/multi/again.pes

# Before PEs reach each other's memory: on any nodes, under any launcher
check_PROGRAMS += tests/multi/boot_map.pes tests/multi/boot_fake
tests_multi_boot_map_pes_SOURCES = tests/multi/boot_map.c
tests_multi_boot_map_pes_LDADD = libpgas.la $(PMIX_LIBS) -lpthread
tests_multi_boot_map_pes_LDFLAGS = $(pes_link)
tests_multi_boot_fake_SOURCES = tests/multi/boot_fake.c
tests_multi_boot_fake_CPPFLAGS = $(AM_CPPFLAGS) $(PMIX_CFLAGS)
tests_multi_boot_fake_LDADD = $(PMIX_LIBS)
boot_scripts = tests/multi/boot_fake.sh tests/multi/boot_hosts.sh \
	tests/multi/boot_vnodes.sh
TESTS += tests/multi/boot_map.pes $(boot_scripts)
EXTRA_DIST += tests/multi/boot_lib.sh $(boot_scripts)
