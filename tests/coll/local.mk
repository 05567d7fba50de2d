# SPDX-License-Identifier: BSD-3-Clause
# tests/coll/local.mk - the algorithms of the collectives, the arrival profile, node-shared
# results, the schedules, and the nonblocking collectives, which are not public.
check_PROGRAMS += tests/coll/schedule_check
TESTS += tests/coll/schedule_check
tests_coll_schedule_check_SOURCES = tests/coll/schedule/check.c tests/coll/schedule/model.c \
	tests/coll/schedule/model.h tests/coll/schedule/model_int.h \
	tests/coll/schedule/model_memory.c tests/coll/schedule/mutants.c \
	tests/coll/schedule/mutants.h
tests_coll_schedule_check_LDADD = $(libpgas)
check_PROGRAMS += tests/coll/chain tests/coll/internode tests/coll/internode_departed \
	tests/coll/internode_limits tests/coll/nb \
	tests/coll/profile tests/coll/shared
tests_coll_internode_LDADD = $(libpgas)
tests_coll_internode_departed_LDADD = $(libpgas)
tests_coll_internode_limits_LDADD = $(libpgas)
tests_coll_nb_LDADD = $(libpgas)

coll_tests = \
	tests/coll/chain.sh \
	tests/coll/counters.sh \
	tests/coll/internode.sh \
	tests/coll/nb.sh \
	tests/coll/profile.sh \
	tests/coll/shared.sh \
	tests/coll/stress.sh \
	tests/coll/threads.sh
TESTS      += $(coll_tests)
EXTRA_DIST += $(coll_tests) tests/coll/threads.c tests/coll/threads_one_pe.c \
	tests/coll/counters.c
