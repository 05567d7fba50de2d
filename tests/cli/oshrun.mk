# SPDX-License-Identifier: BSD-3-Clause
# Tests of the launcher.
check_PROGRAMS += tests/cli/oshrun-client
tests_cli_oshrun_client_CPPFLAGS  = $(AM_CPPFLAGS) $(PMIX_CFLAGS)
tests_cli_oshrun_client_LDADD   = $(PMIX_LIBS)

check_PROGRAMS += tests/cli/pmix-client
tests_cli_pmix_client_SOURCES = tests/cli/pmix-client.c tests/cli/pmix-client-job.c \
	tests/cli/pmix-client.h
tests_cli_pmix_client_CPPFLAGS  = $(AM_CPPFLAGS) $(PMIX_CFLAGS)
tests_cli_pmix_client_LDADD   = $(PMIX_LIBS)

oshrun_tests = \
	tests/cli/oshrun-hostfile.sh \
	tests/cli/oshrun-options.sh \
	tests/cli/oshrun-pmix.sh \
	tests/cli/oshrun-status.sh \
	tests/cli/oshrun-io.sh \
	tests/cli/oshrun-signals.sh \
	tests/cli/oshrun-kill.sh \
	tests/cli/oshrun-limits.sh \
	tests/cli/oshrun-many.sh \
	tests/cli/oshrun-agent.sh \
	tests/cli/oshrun-daemons.sh
TESTS      += $(oshrun_tests)
EXTRA_DIST += $(oshrun_tests) tests/cli/oshrun-lib.sh

# Unauthenticated connections at the ports.
check_PROGRAMS += tests/cli/oshrun-unauth
tests_cli_oshrun_unauth_LDADD   = tools/oshrun/liboshrun.a $(OSHRUN_LIBS)
TESTS      += tests/cli/oshrun-port.sh
EXTRA_DIST += tests/cli/oshrun-port.sh
