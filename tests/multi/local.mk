# SPDX-License-Identifier: BSD-3-Clause
# tests/multi/local.mk - programs that tests/run-pes runs with several numbers of PEs, and
# scripts around them.
pes_tests = \
	tests/multi/amo_contended.pes \
	tests/multi/again.pes \
	tests/multi/barrier.pes \
	tests/multi/bcast.pes \
	tests/multi/boot_map.pes \
	tests/multi/globals.pes \
	tests/multi/heap.pes \
	tests/multi/interpose.pes \
	tests/multi/lock.pes \
	tests/multi/order.pes \
	tests/multi/reduce.pes \
	tests/multi/signal.pes \
	tests/multi/sizes.pes \
	tests/multi/threads.pes \
	tests/multi/wait_peers.pes \
	tests/multi/wait_set.pes \
	tests/multi/wake.pes
# Teams and contexts
pes_tests += \
	tests/multi/contexts.pes \
	tests/multi/contexts_threads.pes \
	tests/multi/teams.pes \
	tests/multi/teams_full.pes \
	tests/multi/teams_many.pes \
	tests/multi/teams_scratch.pes
# The collectives
pes_tests += \
	tests/multi/active.pes \
	tests/multi/allgather_parts.pes \
	tests/multi/alltoall.pes \
	tests/multi/arrival_wrap.pes \
	tests/multi/barrier_mix.pes \
	tests/multi/collect.pes \
	tests/multi/reduce_bits.pes \
	tests/multi/scan.pes
pes_scripts = \
	tests/multi/active_departed.sh \
	tests/multi/active_many.sh \
	tests/multi/boot_fake.sh \
	tests/multi/boot_hosts.sh \
	tests/multi/boot_vnodes.sh \
	tests/multi/cxx.sh \
	tests/multi/examples.sh \
	tests/multi/exits.sh \
	tests/multi/foreign.sh \
	tests/multi/links.sh \
	tests/multi/runner.sh \
	tests/multi/teams_leave.sh \
	tests/multi/wide.sh
check_PROGRAMS += $(pes_tests) \
	tests/multi/active_departed \
	tests/multi/active_many \
	tests/multi/boot_fake \
	tests/multi/coll_mix.pes \
	tests/multi/exits \
	tests/multi/teams_leave
tests_multi_allgather_parts_pes_LDADD = $(libpgas)
tests_multi_arrival_wrap_pes_LDADD = $(libpgas)
tests_multi_boot_fake_CPPFLAGS = $(AM_CPPFLAGS) $(PMIX_CFLAGS)
tests_multi_boot_fake_LDADD = $(PMIX_LIBS)
tests_multi_boot_map_pes_LDADD = $(libpgas)
tests_multi_coll_mix_pes_LDADD = $(libpgas)

TESTS      += $(pes_tests) $(pes_scripts)
EXTRA_DIST += tests/run-pes tests/multi/sizes.txt tests/multi/cxx.cc tests/multi/boot_lib.sh \
	tests/multi/amo.h tests/multi/check.h tests/multi/coll.h tests/multi/teams.h \
	tests/multi/wait.h $(pes_scripts)
