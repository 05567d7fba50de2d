# SPDX-License-Identifier: BSD-3-Clause
# tests/conform/local.mk - the conformance suite: a program for each family of routines,
# each with the numbers of PEs of tests/run-pes, and conform.sh, which runs and counts all.
# The programs expand type tables that rows.awk makes of the specification's prototypes.
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

check_LIBRARIES += tests/conform/libconform.a
tests_conform_libconform_a_SOURCES = tests/conform/conform.c tests/conform/values.c \
	tests/conform/conform.h
$(conform_programs): LDADD = tests/conform/libconform.a .libs/libshmem.so
$(conform_programs): tests/conform/libconform.a

conform_api = $(top_srcdir)/tests/abi/api-1.6.txt
tests/conform/types.h: $(conform_api) $(top_srcdir)/tests/conform/rows.awk
	$(AM_V_GEN)$(MKDIR_P) tests/conform && $(AWK) -F'|' \
		-f $(top_srcdir)/tests/conform/rows.awk $(conform_api) >$@.new && mv $@.new $@
conform_objects = $(conform_programs:.pes=.$(OBJEXT))
$(conform_objects): tests/conform/types.h
CLEANFILES += tests/conform/types.h

tests/conform/conform.log: $(conform_programs)
TESTS += tests/conform/conform.sh
EXTRA_DIST += tests/conform/conform.sh tests/conform/rows.awk
