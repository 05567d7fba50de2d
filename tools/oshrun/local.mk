# SPDX-License-Identifier: BSD-3-Clause
# oshrun, the launcher.  All but its main is a library, for the tests.
bin_PROGRAMS += oshrun
noinst_LIBRARIES += tools/oshrun/liboshrun.a
oshrun_SOURCES = tools/oshrun/main.c
oshrun_CFLAGS = $(AM_CFLAGS) $(PMIX_CFLAGS) $(HWLOC_CFLAGS)
oshrun_LDADD  = tools/oshrun/liboshrun.a $(OSHRUN_LIBS)
OSHRUN_LIBS   = $(PMIX_LIBS) $(HWLOC_LIBS) $(NETTLE_LIBS)

tools_oshrun_liboshrun_a_CFLAGS = \
	$(AM_CFLAGS) $(PMIX_CFLAGS) $(HWLOC_CFLAGS) $(NETTLE_CFLAGS)
tools_oshrun_liboshrun_a_SOURCES = \
	tools/oshrun/complain.c tools/oshrun/complain.h \
	tools/oshrun/crew.c tools/oshrun/crew.h tools/oshrun/crew_int.h \
	tools/oshrun/crew_take.c tools/oshrun/crew_tell.c \
	tools/oshrun/export.c tools/oshrun/export.h \
	tools/oshrun/front.c tools/oshrun/front.h tools/oshrun/front_int.h \
	tools/oshrun/front_events.c tools/oshrun/front_io.c \
	tools/oshrun/front_signals.c \
	tools/oshrun/job.c tools/oshrun/job.h \
	tools/oshrun/loop.c tools/oshrun/loop.h \
	tools/oshrun/nodes.c tools/oshrun/nodes.h \
	tools/oshrun/options.c tools/oshrun/options.h \
	tools/oshrun/options_env.c \
	tools/oshrun/out.c tools/oshrun/out.h \
	tools/oshrun/report.c tools/oshrun/report.h \
	tools/oshrun/timing.c tools/oshrun/timing.h \
	tools/oshrun/verdict.c tools/oshrun/verdict.h \
	tools/oshrun/words.c tools/oshrun/words.h

include tools/oshrun/map/local.mk
include tools/oshrun/net/local.mk
include tools/oshrun/node/local.mk
include tools/oshrun/start/local.mk
