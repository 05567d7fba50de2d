# SPDX-License-Identifier: BSD-3-Clause
# Tests of the launcher.
check_PROGRAMS += tests/launcher/cli/oshrun-client
tests_launcher_cli_oshrun_client_CPPFLAGS  = $(AM_CPPFLAGS) $(PMIX_CFLAGS)
tests_launcher_cli_oshrun_client_LDADD   = $(PMIX_LIBS)

check_PROGRAMS += tests/launcher/cli/oshrun-ft-client
tests_launcher_cli_oshrun_ft_client_SOURCES = tests/launcher/cli/oshrun-ft-client.c \
	pgas/ft/ft_map.c
tests_launcher_cli_oshrun_ft_client_CPPFLAGS  = $(AM_CPPFLAGS) $(PMIX_CFLAGS)
tests_launcher_cli_oshrun_ft_client_LDADD   = $(PMIX_LIBS)

check_PROGRAMS += tests/launcher/cli/pmix-client
tests_launcher_cli_pmix_client_SOURCES = tests/launcher/cli/pmix-client.c tests/launcher/cli/pmix-client-job.c \
	tests/launcher/cli/pmix-client.h
tests_launcher_cli_pmix_client_CPPFLAGS  = $(AM_CPPFLAGS) $(PMIX_CFLAGS)
tests_launcher_cli_pmix_client_LDADD   = $(PMIX_LIBS)

oshrun_tests = \
	tests/launcher/cli/oshrun-hostfile.sh \
	tests/launcher/cli/oshrun-options.sh \
	tests/launcher/cli/oshrun-pmix.sh \
	tests/launcher/cli/oshrun-status.sh \
	tests/launcher/cli/oshrun-io.sh \
	tests/launcher/cli/oshrun-signals.sh \
	tests/launcher/cli/oshrun-kill.sh \
	tests/launcher/cli/oshrun-ft.sh \
	tests/launcher/cli/oshrun-limits.sh \
	tests/launcher/cli/oshrun-mpmd.sh \
	tests/launcher/cli/oshrun-many.sh \
	tests/launcher/cli/oshrun-agent.sh \
	tests/launcher/cli/oshrun-daemons.sh
TESTS      += $(oshrun_tests)
EXTRA_DIST += $(oshrun_tests) tests/launcher/cli/oshrun-lib.sh

# Where the PEs of an OpenSHMEM program are.
check_PROGRAMS += tests/launcher/cli/oshrun-where
tests_launcher_cli_oshrun_where_CFLAGS = $(AM_CFLAGS) -g -O0
tests_launcher_cli_oshrun_where_LDADD  = libshmem.la
TESTS      += tests/launcher/cli/oshrun-where.sh
EXTRA_DIST += tests/launcher/cli/oshrun-where.sh

# Jobs beside busy loops.
check_PROGRAMS += tests/launcher/cli/oshrun-soak
TESTS      += tests/launcher/cli/oshrun-soak.sh
EXTRA_DIST += tests/launcher/cli/oshrun-soak.sh

# Errors of an OpenSHMEM program; the test compiles it by oshcc.
TESTS      += tests/launcher/cli/oshrun-misuse.sh
EXTRA_DIST += tests/launcher/cli/oshrun-misuse.sh tests/launcher/cli/oshrun-misuse.c

# Where the secrets of a job are.
check_PROGRAMS += tests/launcher/cli/oshrun-secret
tests_launcher_cli_oshrun_secret_CPPFLAGS = $(AM_CPPFLAGS) $(PMIX_CFLAGS)
tests_launcher_cli_oshrun_secret_CFLAGS = $(AM_CFLAGS)
tests_launcher_cli_oshrun_secret_LDADD = libshmem.la .libs/libft.a tools/oshrun/liboshrun.a $(PMIX_LIBS) $(NETTLE_LIBS) $(EVENT_LIBS)
TESTS      += tests/launcher/cli/oshrun-secret.sh
EXTRA_DIST += tests/launcher/cli/oshrun-secret.sh

# Unauthenticated connections at the ports.
check_PROGRAMS += tests/launcher/cli/oshrun-unauth
tests_launcher_cli_oshrun_unauth_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
tests_launcher_cli_oshrun_unauth_LDADD  = tools/oshrun/liboshrun.a .libs/libft.a $(OSHRUN_LIBS)
TESTS      += tests/launcher/cli/oshrun-port.sh
EXTRA_DIST += tests/launcher/cli/oshrun-port.sh
