# SPDX-License-Identifier: BSD-3-Clause
# tests/check/local.mk - SHMEM_DEBUG: what each routine says about wrong arguments.
tests/check/bad.def: $(top_srcdir)/tests/check/bad.awk $(top_srcdir)/tests/abi/api-1.6.txt
	$(AM_V_GEN)$(MKDIR_P) tests/check && $(AWK) -F'|' -f $(srcdir)/tests/check/bad.awk \
	    $(srcdir)/tests/abi/api-1.6.txt >$@.tmp && mv -f $@.tmp $@
CLEANFILES += tests/check/bad.def
EXTRA_DIST += tests/check/bad.awk

check_PROGRAMS += tests/check/bad.pes
tests/check/bad.$(OBJEXT): CFLAGS += -O0 -Wno-unused-value -U_FORTIFY_SOURCE
tests/check/bad.$(OBJEXT): tests/check/bad.def

TESTS += tests/check/bad.pes

check_PROGRAMS += tests/check/annex
tests_check_annex_SOURCES = tests/check/annex.c tests/check/annex.h \
	tests/check/annex_verify.c
TESTS += tests/check/annex.sh
EXTRA_DIST += tests/check/annex.sh
