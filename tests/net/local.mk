# SPDX-License-Identifier: BSD-3-Clause
# tests/net/local.mk - jobs over several virtual nodes: the conformance suite and the
# programs of tests/multi on each network transport, progress, peers that are lost,
# atomics of all at once, faults.
check_PROGRAMS += tests/net/flood tests/net/hammer tests/net/lost \
	tests/net/progress tests/net/sleeper

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
