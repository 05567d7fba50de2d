# SPDX-License-Identifier: BSD-3-Clause
# tests/nomem/local.mk - each allocation of a job fails once.
check_PROGRAMS += tests/nomem/job
TESTS      += tests/nomem/nomem.sh
EXTRA_DIST += tests/nomem/nomem.sh tests/nomem/nomem.c
