# SPDX-License-Identifier: BSD-3-Clause
# tests/api/multi/local.mk - programs that tests/run-pes runs with several numbers of PEs, and
# scripts around them.
pes_tests = \
	tests/api/multi/amo_contended.pes \
	tests/api/multi/again.pes \
	tests/api/multi/barrier.pes \
	tests/api/multi/bcast.pes \
	tests/api/multi/boot_map.pes \
	tests/api/multi/globals.pes \
	tests/api/multi/heap.pes \
	tests/api/multi/interpose.pes \
	tests/api/multi/layouts.pes \
	tests/api/multi/lock.pes \
	tests/api/multi/order.pes \
	tests/api/multi/reduce.pes \
	tests/api/multi/signal.pes \
	tests/api/multi/sizes.pes \
	tests/api/multi/strided.pes \
	tests/api/multi/threads.pes \
	tests/api/multi/wait_peers.pes \
	tests/api/multi/wait_set.pes \
	tests/api/multi/wake.pes
# Teams and contexts
pes_tests += \
	tests/api/multi/contexts.pes \
	tests/api/multi/contexts_threads.pes \
	tests/api/multi/default_threads.pes \
	tests/api/multi/teams.pes \
	tests/api/multi/teams_full.pes \
	tests/api/multi/teams_many.pes \
	tests/api/multi/teams_scratch.pes
# The collectives
pes_tests += \
	tests/api/multi/active.pes \
	tests/api/multi/allgather_parts.pes \
	tests/api/multi/alltoall.pes \
	tests/api/multi/arrival_wrap.pes \
	tests/api/multi/barrier_mix.pes \
	tests/api/multi/collect.pes \
	tests/api/multi/reduce_bits.pes \
	tests/api/multi/scan.pes
pes_scripts = \
	tests/api/multi/active_departed.sh \
	tests/api/multi/active_many.sh \
	tests/api/multi/boot_fake.sh \
	tests/api/multi/boot_hosts.sh \
	tests/api/multi/boot_vnodes.sh \
	tests/api/multi/cxx.sh \
	tests/api/multi/examples.sh \
	tests/api/multi/examples_ft.sh \
	tests/api/multi/exits.sh \
	tests/api/multi/foreign.sh \
	tests/api/multi/links.sh \
	tests/api/multi/reordered.sh \
	tests/api/multi/runner.sh \
	tests/api/multi/teams_leave.sh \
	tests/api/multi/wide.sh
check_PROGRAMS += $(pes_tests) \
	tests/api/multi/active_departed \
	tests/api/multi/active_many \
	tests/api/multi/boot_fake \
	tests/api/multi/coll_mix.pes \
	tests/api/multi/exits \
	tests/api/multi/teams_leave
tests_api_multi_allgather_parts_pes_LDADD = $(libpgas)
tests_api_multi_arrival_wrap_pes_LDADD = $(libpgas)
tests_api_multi_boot_fake_CPPFLAGS = $(AM_CPPFLAGS) $(PMIX_CFLAGS)
tests_api_multi_boot_fake_LDADD = $(PMIX_LIBS)
tests_api_multi_boot_map_pes_LDADD = $(libpgas)
tests_api_multi_coll_mix_pes_LDADD = $(libpgas)
tests_api_multi_wait_peers_pes_SOURCES = tests/api/multi/wait_peers.c $(steady)
tests_api_multi_wake_pes_SOURCES = tests/api/multi/wake.c $(steady)

TESTS      += $(pes_tests) $(pes_scripts)
EXTRA_DIST += tests/run-pes tests/api/multi/sizes.txt tests/api/multi/cxx.cc tests/api/multi/boot_lib.sh \
	tests/api/multi/reordered.txt tests/api/multi/guides/FAILURES.1.c \
	tests/api/multi/guides/PORTING.1.c tests/api/multi/guides/TUTORIAL.3.c \
	tests/api/multi/check.h tests/api/multi/coll.h tests/api/multi/teams.h \
	tests/api/multi/wait.h $(pes_scripts)
