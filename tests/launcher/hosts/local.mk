# SPDX-License-Identifier: BSD-3-Clause
# tests/launcher/hosts/local.mk - tests of jobs on several hosts, which they make out of namespaces
# (as root only), and on virtual nodes.
hosts_tests = tests/launcher/hosts/table.sh tests/launcher/hosts/faults.sh tests/launcher/hosts/interfaces.sh tests/launcher/hosts/listen.sh \
	tests/launcher/hosts/conform.sh tests/launcher/hosts/examples.sh tests/launcher/hosts/lost.sh \
	tests/launcher/hosts/listeners.sh tests/launcher/hosts/neighbor.sh tests/launcher/hosts/survive.sh \
	tests/launcher/cli/oshrun-vnodes.sh
check_PROGRAMS += tests/launcher/hosts/listen tests/launcher/hosts/neighbor
TESTS      += $(hosts_tests)
EXTRA_DIST += $(hosts_tests) tests/launcher/hosts/hosts tests/launcher/hosts/sshd tests/launcher/hosts/slurm \
	tests/launcher/hosts/lib.sh tests/launcher/hosts/columns.sh tests/launcher/hosts/shmem-lib.sh
