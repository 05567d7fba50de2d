# SPDX-License-Identifier: BSD-3-Clause
# tests/bugs/local.mk - regression tests, one program or script for each bug.
# A .pes is run as in tests/api/multi, the others by a script.
bug_tests = \
	tests/bugs/atfork.pes \
	tests/bugs/lock_threads.pes \
	tests/bugs/pinned.pes \
	tests/bugs/straddle.pes \
	tests/bugs/wrapper_thread.pes
bug_scripts = \
	tests/bugs/starved_daemon.sh \
	tests/bugs/again_fail.sh \
	tests/bugs/buffers.sh \
	tests/bugs/core_size.sh \
	tests/bugs/decimal.sh \
	tests/bugs/dlclose.sh \
	tests/bugs/ending.sh \
	tests/bugs/environ.sh \
	tests/bugs/foreign_inside.sh \
	tests/bugs/heap_limits.sh \
	tests/bugs/leaver.sh \
	tests/bugs/lock_foreign.sh \
	tests/bugs/medium.sh \
	tests/bugs/other_exe.sh \
	tests/bugs/pmix_kill.sh \
	tests/bugs/stages.sh \
	tests/bugs/stdin_lock.sh \
	tests/bugs/twice.sh
check_PROGRAMS += $(bug_tests) tests/bugs/between \
	tests/bugs/again_fail \
	tests/bugs/buffers \
	tests/bugs/core_size \
	tests/bugs/decimal \
	tests/bugs/dlclose \
	tests/bugs/ending \
	tests/bugs/environ \
	tests/bugs/heap_limits \
	tests/bugs/hello \
	tests/bugs/leaver \
	tests/bugs/lock_foreign \
	tests/bugs/nested \
	tests/bugs/other_a \
	tests/bugs/other_b \
	tests/bugs/stdin_lock
tests_bugs_dlclose_LDADD =
tests_bugs_other_a_SOURCES = tests/bugs/other_exe.c
tests_bugs_other_a_CPPFLAGS = $(AM_CPPFLAGS) -DMORE_WORDS=3
tests_bugs_other_b_SOURCES = tests/bugs/other_exe.c
tests_bugs_other_b_CPPFLAGS = $(AM_CPPFLAGS) -DMORE_WORDS=3000

tests_bugs_between_LDADD = $(libpgas)

TESTS      += $(bug_tests) tests/bugs/between $(bug_scripts)
EXTRA_DIST += tests/bugs/lib.sh tests/bugs/medium.c $(bug_scripts)
