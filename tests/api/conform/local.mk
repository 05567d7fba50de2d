# SPDX-License-Identifier: BSD-3-Clause
# tests/api/conform/local.mk - the conformance suite: a program for each family of routines,
# each with the numbers of PEs of tests/run-pes, and conform.sh, which runs and counts all.
# The programs expand type tables that rows.awk generates from the specification's prototypes.
conform_programs = \
	tests/api/conform/amo.pes \
	tests/api/conform/aset.pes \
	tests/api/conform/coll_move.pes \
	tests/api/conform/coll_reduce.pes \
	tests/api/conform/coll_sync.pes \
	tests/api/conform/contexts.pes \
	tests/api/conform/generics.pes \
	tests/api/conform/life.pes \
	tests/api/conform/lock.pes \
	tests/api/conform/memory.pes \
	tests/api/conform/old.pes \
	tests/api/conform/rma.pes \
	tests/api/conform/signal.pes \
	tests/api/conform/strided.pes \
	tests/api/conform/teams.pes \
	tests/api/conform/wait.pes \
	tests/api/conform/wait_sets.pes
check_PROGRAMS += $(conform_programs)

check_LIBRARIES += tests/api/conform/libconform.a
tests_api_conform_libconform_a_SOURCES = tests/api/conform/conform.c tests/api/conform/values.c \
	tests/api/conform/conform.h
$(conform_programs): LDADD = tests/api/conform/libconform.a .libs/libshmem.so
$(conform_programs): tests/api/conform/libconform.a

conform_api = $(top_srcdir)/tests/api/abi/api-1.6.txt
tests/api/conform/types.h: $(conform_api) $(top_srcdir)/tests/api/conform/rows.awk
	$(AM_V_GEN)$(MKDIR_P) tests/api/conform && $(AWK) -F'|' \
		-f $(top_srcdir)/tests/api/conform/rows.awk $(conform_api) >$@.new && mv $@.new $@
conform_objects = $(conform_programs:.pes=.$(OBJEXT))
$(conform_objects): tests/api/conform/types.h
CLEANFILES += tests/api/conform/types.h

tests/api/conform/conform.log: $(conform_programs)
TESTS += tests/api/conform/conform.sh
EXTRA_DIST += tests/api/conform/conform.sh tests/api/conform/rows.awk
