# SPDX-License-Identifier: BSD-3-Clause
# tests/bugs/local.mk - one program or script for each bug that was found; they stay here
# so that it does not come back.  A .pes is run as in tests/multi, the others by a script.

check_PROGRAMS += tests/bugs/atfork.pes
tests_bugs_atfork_pes_SOURCES = tests/bugs/atfork.c tests/multi/check.h
tests_bugs_atfork_pes_LDADD = libshmem.la -lpthread
tests_bugs_atfork_pes_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/bugs/lock_threads.pes
tests_bugs_lock_threads_pes_SOURCES = tests/bugs/lock_threads.c tests/multi/check.h
tests_bugs_lock_threads_pes_LDADD = libshmem.la -lpthread
tests_bugs_lock_threads_pes_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/bugs/pinned.pes
tests_bugs_pinned_pes_SOURCES = tests/bugs/pinned.c tests/multi/check.h
tests_bugs_pinned_pes_LDADD = libshmem.la
tests_bugs_pinned_pes_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/bugs/straddle.pes
tests_bugs_straddle_pes_SOURCES = tests/bugs/straddle.c tests/multi/check.h
tests_bugs_straddle_pes_LDADD = libshmem.la
tests_bugs_straddle_pes_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/bugs/wrapper_thread.pes
tests_bugs_wrapper_thread_pes_SOURCES = tests/bugs/wrapper_thread.c tests/multi/check.h
tests_bugs_wrapper_thread_pes_LDADD = libshmem.la -lpthread
tests_bugs_wrapper_thread_pes_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/bugs/again_fail
tests_bugs_again_fail_SOURCES = tests/bugs/again_fail.c tests/multi/check.h
tests_bugs_again_fail_LDADD = libshmem.la
tests_bugs_again_fail_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/bugs/buffers
tests_bugs_buffers_SOURCES = tests/bugs/buffers.c tests/multi/check.h
tests_bugs_buffers_LDADD = libshmem.la
tests_bugs_buffers_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/bugs/core_size
tests_bugs_core_size_SOURCES = tests/bugs/core_size.c tests/multi/check.h
tests_bugs_core_size_LDADD = libshmem.la
tests_bugs_core_size_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/bugs/decimal
tests_bugs_decimal_SOURCES = tests/bugs/decimal.c tests/multi/check.h
tests_bugs_decimal_LDADD = libshmem.la
tests_bugs_decimal_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/bugs/ending
tests_bugs_ending_SOURCES = tests/bugs/ending.c tests/multi/check.h
tests_bugs_ending_LDADD = libshmem.la
tests_bugs_ending_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/bugs/environ
tests_bugs_environ_SOURCES = tests/bugs/environ.c tests/multi/check.h
tests_bugs_environ_LDADD = libshmem.la
tests_bugs_environ_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/bugs/heap_limits
tests_bugs_heap_limits_SOURCES = tests/bugs/heap_limits.c tests/multi/check.h
tests_bugs_heap_limits_LDADD = libshmem.la
tests_bugs_heap_limits_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/bugs/hello
tests_bugs_hello_SOURCES = tests/bugs/hello.c tests/multi/check.h
tests_bugs_hello_LDADD = libshmem.la
tests_bugs_hello_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/bugs/leaver
tests_bugs_leaver_SOURCES = tests/bugs/leaver.c tests/multi/check.h
tests_bugs_leaver_LDADD = libshmem.la
tests_bugs_leaver_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/bugs/lock_foreign
tests_bugs_lock_foreign_SOURCES = tests/bugs/lock_foreign.c tests/multi/check.h
tests_bugs_lock_foreign_LDADD = libshmem.la
tests_bugs_lock_foreign_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/bugs/nested
tests_bugs_nested_SOURCES = tests/bugs/nested.c tests/multi/check.h
tests_bugs_nested_LDADD = libshmem.la
tests_bugs_nested_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/bugs/stdin_lock
tests_bugs_stdin_lock_SOURCES = tests/bugs/stdin_lock.c tests/multi/check.h
tests_bugs_stdin_lock_LDADD = libshmem.la -lpthread
tests_bugs_stdin_lock_LDFLAGS = $(pes_link)

check_PROGRAMS += tests/bugs/other_a
tests_bugs_other_a_SOURCES = tests/bugs/other_exe.c tests/multi/check.h
tests_bugs_other_a_LDADD = libshmem.la
tests_bugs_other_a_LDFLAGS = $(pes_link)
tests_bugs_other_a_CPPFLAGS = $(AM_CPPFLAGS) -DMORE_WORDS=3

check_PROGRAMS += tests/bugs/other_b
tests_bugs_other_b_SOURCES = tests/bugs/other_exe.c tests/multi/check.h
tests_bugs_other_b_LDADD = libshmem.la
tests_bugs_other_b_LDFLAGS = $(pes_link)
tests_bugs_other_b_CPPFLAGS = $(AM_CPPFLAGS) -DMORE_WORDS=3000

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
	tests/bugs/ending.sh \
	tests/bugs/environ.sh \
	tests/bugs/foreign_inside.sh \
	tests/bugs/heap_limits.sh \
	tests/bugs/leaver.sh \
	tests/bugs/lock_foreign.sh \
	tests/bugs/medium.sh \
	tests/bugs/other_exe.sh \
	tests/bugs/stages.sh \
	tests/bugs/stdin_lock.sh \
	tests/bugs/twice.sh

TESTS      += $(bug_tests) $(bug_scripts)
EXTRA_DIST += tests/bugs/lib.sh tests/bugs/medium.c $(bug_scripts)
