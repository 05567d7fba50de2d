# SPDX-License-Identifier: BSD-3-Clause
# tests/threads/local.mk - several threads of a PE in the library, and in pgas/threads alone
# (race.sh makes its program).
thread_tests = \
	tests/threads/pairs.sh tests/threads/race.sh tests/threads/stress.sh
check_PROGRAMS += tests/threads/pairs tests/threads/stress
tests_threads_pairs_SOURCES = tests/threads/pairs.c tests/threads/pairs.h \
	tests/threads/pairs_coll.c tests/threads/pairs_rma.c
tests_threads_stress_SOURCES = tests/threads/stress.c tests/threads/stress.h \
	tests/threads/stress_actions.c tests/threads/stress_strided.c
TESTS      += $(thread_tests)
EXTRA_DIST += $(thread_tests) tests/threads/race.c
