# SPDX-License-Identifier: BSD-3-Clause
# tests/steady/local.mk - whether a test that judges time got its processor, and the test of that.
# A C test that judges time has $(steady) among its sources.
steady = tests/steady/steady.c tests/steady/steady.h
check_PROGRAMS += tests/steady/watch tests/steady/judge
tests_steady_watch_LDADD =
tests_steady_judge_SOURCES = tests/steady/judge.c $(steady)
tests_steady_judge_LDADD =
TESTS      += tests/steady/steady_test.sh
EXTRA_DIST += tests/steady/steady.sh tests/steady/steady_test.sh
