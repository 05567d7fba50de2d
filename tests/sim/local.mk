# SPDX-License-Identifier: BSD-3-Clause
# tests/sim/local.mk - simulated jobs.  sim.sh makes the programs: the library's sources
# compiled again, with PEs as fibers of one process (job.h).
EXTRA_LTLIBRARIES = tests/sim/libpgas_sim.la
tests_sim_libpgas_sim_la_SOURCES = $(pgas_sources) $(ft_step_sources) pgas/transport/ofi/ofi_absent.c \
	pgas/transport/test/sim.c pgas/transport/test/sim.h pgas/transport/test/sim_int.h \
	pgas/transport/test/sim_ops.c pgas/core/base/address.c \
	tests/coll/counters_start.c tests/coll/counters_start.h \
	tests/sim/boot.c tests/sim/failure.c tests/sim/failure_calls.c \
	tests/sim/failure_full.c tests/sim/failure_int.h tests/sim/few_types.h \
	tests/sim/job.c tests/sim/job.h tests/sim/job_int.h tests/sim/lines.c tests/sim/lines.h \
	tests/sim/os.c \
	tests/sim/segment.c
tests_sim_libpgas_sim_la_CPPFLAGS = $(libpgas_la_CPPFLAGS) $(sim_CPPFLAGS)
tests_sim_libpgas_sim_la_CFLAGS = $(libpgas_la_CFLAGS)
tests_sim_libpgas_sim_la_LIBADD = $(op_libraries)
sim_CPPFLAGS = -DPGAS_INSTANCES -DPGAS_SIM -DPGAS_COUNTERS -include $(srcdir)/tests/sim/few_types.h \
	-include $(srcdir)/tests/sim/lines.h

EXTRA_PROGRAMS = tests/sim/run
tests_sim_run_CPPFLAGS = $(libpgas_la_CPPFLAGS) $(sim_CPPFLAGS)
tests_sim_run_SOURCES = tests/sim/run.c tests/sim/program.c tests/sim/program.h \
	tests/sim/ft_calls.c tests/sim/ft_program.c tests/sim/ft_program.h \
	tests/sim/ft_program_int.h
tests_sim_run_LDADD = tests/sim/.libs/libpgas_sim.a -lpthread -lm -ldl
tests/sim/.libs/libpgas_sim.a: tests/sim/libpgas_sim.la ;
EXTRA_PROGRAMS += tests/sim/scale
tests_sim_scale_CPPFLAGS = $(libpgas_la_CPPFLAGS) $(sim_CPPFLAGS)
tests_sim_scale_SOURCES = tests/sim/scale.c tests/sim/scale.def
tests_sim_scale_LDADD = tests/sim/.libs/libpgas_sim.a -lpthread -lm -ldl

TESTS += tests/sim/sim.sh tests/sim/ft.sh tests/sim/counters.sh
EXTRA_DIST += tests/sim/counters.sh tests/sim/counters_mutants.txt \
	tests/sim/sim.sh tests/sim/mutants.txt tests/sim/ft.sh tests/sim/ft_mutants.txt
EXTRA_PROGRAMS += tests/sim/startup
tests_sim_startup_CPPFLAGS = $(libpgas_la_CPPFLAGS) $(sim_CPPFLAGS)
tests_sim_startup_SOURCES = tests/sim/startup.c
tests_sim_startup_LDADD = tests/sim/.libs/libpgas_sim.a -lpthread -lm -ldl
EXTRA_PROGRAMS += tests/sim/moved
tests_sim_moved_CPPFLAGS = $(libpgas_la_CPPFLAGS) $(sim_CPPFLAGS)
tests_sim_moved_SOURCES = tests/sim/moved.c
tests_sim_moved_LDADD = tests/sim/.libs/libpgas_sim.a -lpthread -lm -ldl
EXTRA_PROGRAMS += tests/sim/scale_node
tests_sim_scale_node_CPPFLAGS = $(libpgas_la_CPPFLAGS) $(sim_CPPFLAGS)
tests_sim_scale_node_SOURCES = tests/sim/scale_node.c
tests_sim_scale_node_LDADD = tests/sim/.libs/libpgas_sim.a -lpthread -lm -ldl
