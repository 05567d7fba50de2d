# SPDX-License-Identifier: BSD-3-Clause
# tests/transport/net/local.mk - jobs over several virtual nodes: the conformance suite and the
# programs of tests/api/multi on each network transport, progress, lost peers, concurrent
# atomics, fault injection.
check_PROGRAMS += tests/transport/net/all_pairs tests/transport/net/contact \
	tests/transport/net/destroy tests/transport/net/dropped \
	tests/transport/net/flood tests/transport/net/hammer tests/transport/net/killed \
	tests/transport/net/lost tests/transport/net/mixed \
	tests/transport/net/progress tests/transport/net/replay tests/transport/net/sleeper

net_tests = \
	tests/transport/net/contact.sh \
	tests/transport/net/destroy.sh \
	tests/transport/net/dropped.sh \
	tests/transport/net/faults.sh \
	tests/transport/net/config.sh \
	tests/transport/net/conform_ofi.sh \
	tests/transport/net/conform_tcp.sh \
	tests/transport/net/conform_ucx.sh \
	tests/transport/net/examples.sh \
	tests/transport/net/hammer.sh \
	tests/transport/net/killed.sh \
	tests/transport/net/lost.sh \
	tests/transport/net/multi_vnodes.sh \
	tests/transport/net/progress.sh \
	tests/transport/net/replay.sh \
	tests/transport/net/sleeper.sh
TESTS      += $(net_tests)
EXTRA_DIST += $(net_tests) tests/transport/net/lib.sh tests/transport/net/conform.sh
tests_transport_net_sleeper_SOURCES = tests/transport/net/sleeper.c $(steady)
tests_transport_net_dropped_LDADD = $(libpgas)
tests_transport_net_contact_CPPFLAGS = $(AM_CPPFLAGS) $(PMIX_CFLAGS)
