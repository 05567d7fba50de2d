# SPDX-License-Identifier: BSD-3-Clause
# tests/hosts/local.mk - tests of jobs on several hosts, which they make out of namespaces
# (as root only), and on virtual nodes.
hosts_tests = tests/hosts/table.sh tests/hosts/faults.sh tests/hosts/interfaces.sh \
	tests/hosts/conform.sh tests/hosts/examples.sh tests/hosts/lost.sh \
	tests/cli/oshrun-vnodes.sh
TESTS      += $(hosts_tests)
EXTRA_DIST += $(hosts_tests) tests/hosts/hosts tests/hosts/sshd tests/hosts/slurm \
	tests/hosts/lib.sh tests/hosts/columns.sh tests/hosts/shmem-lib.sh
