# SPDX-License-Identifier: BSD-3-Clause
# tests/net/local.mk - jobs over several virtual nodes: the conformance suite and the
# programs of tests/multi on each network transport, progress, peers that are lost,
# atomics of all at once, faults.
net_link = $(AM_LDFLAGS) -no-install
check_PROGRAMS += tests/net/flood tests/net/hammer tests/net/lost \
	tests/net/progress tests/net/sleeper

tests_net_flood_SOURCES = tests/net/flood.c tests/multi/check.h
tests_net_flood_LDADD = libshmem.la -lpthread
tests_net_flood_LDFLAGS = $(net_link)
tests_net_hammer_SOURCES = tests/net/hammer.c tests/multi/check.h
tests_net_hammer_LDADD = libshmem.la
tests_net_hammer_LDFLAGS = $(net_link)
tests_net_lost_SOURCES = tests/net/lost.c tests/multi/check.h
tests_net_lost_LDADD = libshmem.la
tests_net_lost_LDFLAGS = $(net_link)
tests_net_progress_SOURCES = tests/net/progress.c tests/multi/check.h
tests_net_progress_LDADD = libshmem.la
tests_net_progress_LDFLAGS = $(net_link)
tests_net_sleeper_SOURCES = tests/net/sleeper.c tests/multi/check.h
tests_net_sleeper_LDADD = libshmem.la
tests_net_sleeper_LDFLAGS = $(net_link)

net_tests = \
	tests/net/faults.sh \
	tests/net/config.sh \
	tests/net/conform_ofi.sh \
	tests/net/conform_ucx.sh \
	tests/net/examples.sh \
	tests/net/hammer.sh \
	tests/net/lost.sh \
	tests/net/multi_vnodes.sh \
	tests/net/progress.sh \
	tests/net/sleeper.sh
TESTS      += $(net_tests)
EXTRA_DIST += $(net_tests) tests/net/lib.sh tests/net/conform.sh
