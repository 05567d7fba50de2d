# SPDX-License-Identifier: BSD-3-Clause
# tests/env.sh - the environment of every test; sourced by the makefile.
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
LSAN_OPTIONS="suppressions=$top_srcdir/tests/lsan.supp:print_suppressions=0"
UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS UBSAN_OPTIONS
SHMEM_COLL_TABLE=none
export SHMEM_COLL_TABLE
SANITIZED=
! grep -q '^#define PGAS_SANITIZED' "$top_builddir/config.h" || SANITIZED=1
export SANITIZED
# The tests themselves run in parallel; with more jobs Criterion 2.4 leaks memory at times.
CRITERION_JOBS=1
export CRITERION_JOBS
