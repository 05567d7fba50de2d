# SPDX-License-Identifier: BSD-3-Clause
# tests/api/check/local.mk - SHMEM_DEBUG: the errors of each routine for invalid arguments.
tests/api/check/bad.def: $(top_srcdir)/tests/api/check/bad.awk $(top_srcdir)/tests/api/abi/api-1.6.txt
	$(AM_V_GEN)$(MKDIR_P) tests/api/check && $(AWK) -F'|' -f $(srcdir)/tests/api/check/bad.awk \
	    $(srcdir)/tests/api/abi/api-1.6.txt >$@.tmp && mv -f $@.tmp $@
CLEANFILES += tests/api/check/bad.def
EXTRA_DIST += tests/api/check/bad.awk

check_PROGRAMS += tests/api/check/bad.pes
tests/api/check/bad.$(OBJEXT): CFLAGS += -O0 -Wno-unused-value -U_FORTIFY_SOURCE
tests/api/check/bad.$(OBJEXT): tests/api/check/bad.def

TESTS += tests/api/check/bad.pes

check_PROGRAMS += tests/api/check/annex
tests_api_check_annex_SOURCES = tests/api/check/annex.c tests/api/check/annex.h \
	tests/api/check/annex_verify.c
TESTS += tests/api/check/annex.sh
EXTRA_DIST += tests/api/check/annex.sh
