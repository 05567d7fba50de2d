# SPDX-License-Identifier: BSD-3-Clause
# tests/ft/local.mk - failure of PEs with SHMEM_FT=continue: no call hangs, the survivors go on.
ft_tests = \
	tests/ft/domains.sh \
	tests/ft/events_end.sh \
	tests/ft/exits.sh \
	tests/ft/handler.sh \
	tests/ft/hybrid.sh \
	tests/ft/nohang.sh \
	tests/ft/revoked.sh \
	tests/ft/uniform.sh
tests_ft_domains_LDADD = $(libpgas)
check_PROGRAMS += tests/ft/domains tests/ft/events_end tests/ft/exits tests/ft/handler tests/ft/nohang tests/ft/nohang_report \
	tests/ft/revoked tests/ft/uniform
tests_ft_nohang_SOURCES = tests/ft/board.c tests/ft/board.h tests/ft/nohang.c \
	tests/ft/nohang.h tests/ft/nohang_coll.c tests/ft/nohang_mend.c tests/ft/nohang_rma.c \
	tests/ft/nohang_team.c
tests_ft_nohang_report_SOURCES = tests/ft/board.c tests/ft/board.h tests/ft/nohang_report.c
tests_ft_events_end_CPPFLAGS = $(AM_CPPFLAGS) $(PMIX_CFLAGS)
tests_ft_events_end_LDADD = $(LDADD) $(PMIX_LIBS)
TESTS      += $(ft_tests)
EXTRA_DIST += $(ft_tests) tests/ft/hybrid.c tests/ft/nohang.txt
