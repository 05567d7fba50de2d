# SPDX-License-Identifier: BSD-3-Clause
# tests/conform/local.mk - the conformance suite: a program for each family of routines,
# each with the numbers of PEs of tests/run-pes, and conform.sh, which runs and counts all.
# The programs expand type tables that rows.awk makes of the specification's prototypes.
conform_link = $(AM_LDFLAGS) -no-install
conform_shared = tests/conform/conform.c tests/conform/values.c tests/conform/conform.h \
	tests/multi/check.h

conform_programs = \
	tests/conform/amo.pes \
	tests/conform/aset.pes \
	tests/conform/coll_move.pes \
	tests/conform/coll_reduce.pes \
	tests/conform/coll_sync.pes \
	tests/conform/contexts.pes \
	tests/conform/generics.pes \
	tests/conform/life.pes \
	tests/conform/lock.pes \
	tests/conform/memory.pes \
	tests/conform/old.pes \
	tests/conform/rma.pes \
	tests/conform/signal.pes \
	tests/conform/strided.pes \
	tests/conform/teams.pes \
	tests/conform/wait.pes \
	tests/conform/wait_sets.pes
check_PROGRAMS += $(conform_programs)

tests_conform_amo_pes_SOURCES = tests/conform/amo.c $(conform_shared)
tests_conform_amo_pes_LDADD = libshmem.la
tests_conform_amo_pes_LDFLAGS = $(conform_link)
tests_conform_aset_pes_SOURCES = tests/conform/aset.c $(conform_shared)
tests_conform_aset_pes_LDADD = libshmem.la
tests_conform_aset_pes_LDFLAGS = $(conform_link)
tests_conform_coll_move_pes_SOURCES = tests/conform/coll_move.c $(conform_shared)
tests_conform_coll_move_pes_LDADD = libshmem.la
tests_conform_coll_move_pes_LDFLAGS = $(conform_link)
tests_conform_coll_reduce_pes_SOURCES = tests/conform/coll_reduce.c $(conform_shared)
tests_conform_coll_reduce_pes_LDADD = libshmem.la
tests_conform_coll_reduce_pes_LDFLAGS = $(conform_link)
tests_conform_coll_sync_pes_SOURCES = tests/conform/coll_sync.c $(conform_shared)
tests_conform_coll_sync_pes_LDADD = libshmem.la
tests_conform_coll_sync_pes_LDFLAGS = $(conform_link)
tests_conform_contexts_pes_SOURCES = tests/conform/contexts.c $(conform_shared)
tests_conform_contexts_pes_LDADD = libshmem.la
tests_conform_contexts_pes_LDFLAGS = $(conform_link)
tests_conform_generics_pes_SOURCES = tests/conform/generics.c $(conform_shared)
tests_conform_generics_pes_LDADD = libshmem.la
tests_conform_generics_pes_LDFLAGS = $(conform_link)
tests_conform_life_pes_SOURCES = tests/conform/life.c $(conform_shared)
tests_conform_life_pes_LDADD = libshmem.la
tests_conform_life_pes_LDFLAGS = $(conform_link)
tests_conform_lock_pes_SOURCES = tests/conform/lock.c $(conform_shared)
tests_conform_lock_pes_LDADD = libshmem.la
tests_conform_lock_pes_LDFLAGS = $(conform_link)
tests_conform_memory_pes_SOURCES = tests/conform/memory.c $(conform_shared)
tests_conform_memory_pes_LDADD = libshmem.la
tests_conform_memory_pes_LDFLAGS = $(conform_link)
tests_conform_old_pes_SOURCES = tests/conform/old.c $(conform_shared)
tests_conform_old_pes_LDADD = libshmem.la
tests_conform_old_pes_LDFLAGS = $(conform_link)
tests_conform_rma_pes_SOURCES = tests/conform/rma.c $(conform_shared)
tests_conform_rma_pes_LDADD = libshmem.la
tests_conform_rma_pes_LDFLAGS = $(conform_link)
tests_conform_signal_pes_SOURCES = tests/conform/signal.c $(conform_shared)
tests_conform_signal_pes_LDADD = libshmem.la
tests_conform_signal_pes_LDFLAGS = $(conform_link)
tests_conform_strided_pes_SOURCES = tests/conform/strided.c $(conform_shared)
tests_conform_strided_pes_LDADD = libshmem.la
tests_conform_strided_pes_LDFLAGS = $(conform_link)
tests_conform_teams_pes_SOURCES = tests/conform/teams.c $(conform_shared)
tests_conform_teams_pes_LDADD = libshmem.la
tests_conform_teams_pes_LDFLAGS = $(conform_link)
tests_conform_wait_pes_SOURCES = tests/conform/wait.c $(conform_shared)
tests_conform_wait_pes_LDADD = libshmem.la
tests_conform_wait_pes_LDFLAGS = $(conform_link)
tests_conform_wait_sets_pes_SOURCES = tests/conform/wait_sets.c $(conform_shared)
tests_conform_wait_sets_pes_LDADD = libshmem.la
tests_conform_wait_sets_pes_LDFLAGS = $(conform_link)

conform_api = $(top_srcdir)/tests/abi/api-1.6.txt
tests/conform/types.h: $(conform_api) $(top_srcdir)/tests/conform/rows.awk
	$(AM_V_GEN)$(MKDIR_P) tests/conform && $(AWK) -F'|' \
		-f $(top_srcdir)/tests/conform/rows.awk $(conform_api) >$@.new && mv $@.new $@
conform_typed = \
	tests/conform/amo.$(OBJEXT) \
	tests/conform/aset.$(OBJEXT) \
	tests/conform/coll_move.$(OBJEXT) \
	tests/conform/coll_reduce.$(OBJEXT) \
	tests/conform/generics.$(OBJEXT) \
	tests/conform/old.$(OBJEXT) \
	tests/conform/rma.$(OBJEXT) \
	tests/conform/signal.$(OBJEXT) \
	tests/conform/strided.$(OBJEXT) \
	tests/conform/wait.$(OBJEXT) \
	tests/conform/wait_sets.$(OBJEXT)
$(conform_typed): tests/conform/types.h
CLEANFILES += tests/conform/types.h

tests/conform/conform.log: $(conform_programs)
TESTS += tests/conform/conform.sh
EXTRA_DIST += tests/conform/conform.sh tests/conform/rows.awk
