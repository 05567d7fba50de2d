# SPDX-License-Identifier: BSD-3-Clause
# tests/threads/local.mk - several threads of a PE in the library.
thread_tests = \
	tests/threads/pairs.sh
check_PROGRAMS += tests/threads/pairs
tests_threads_pairs_SOURCES = tests/threads/pairs.c tests/threads/pairs.h \
	tests/threads/pairs_coll.c tests/threads/pairs_rma.c
TESTS      += $(thread_tests)
EXTRA_DIST += $(thread_tests)
