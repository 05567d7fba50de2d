# SPDX-License-Identifier: BSD-3-Clause
# oshrun, the launcher.
bin_PROGRAMS += oshrun
oshrun_SOURCES = \
	tools/oshrun/main.c \
	tools/oshrun/bind.c tools/oshrun/bind.h \
	tools/oshrun/child.c tools/oshrun/child.h \
	tools/oshrun/daemon.c tools/oshrun/daemon.h tools/oshrun/daemon_int.h \
	tools/oshrun/front.c tools/oshrun/front.h \
	tools/oshrun/iobuf.c tools/oshrun/iobuf.h \
	tools/oshrun/janitor.c tools/oshrun/janitor.h \
	tools/oshrun/job.h \
	tools/oshrun/launch.c tools/oshrun/launch.h \
	tools/oshrun/loop.c tools/oshrun/loop.h \
	tools/oshrun/options.c tools/oshrun/options.h \
	tools/oshrun/out.c tools/oshrun/out.h \
	tools/oshrun/pe_io.c \
	tools/oshrun/pmix_api.h tools/oshrun/pmix_host.c tools/oshrun/pmix_host.h \
	tools/oshrun/report.c \
	tools/oshrun/stacks.c \
	tools/oshrun/timing.c tools/oshrun/timing.h \
	tools/oshrun/verdict.c tools/oshrun/verdict.h
oshrun_CFLAGS = $(AM_CFLAGS) $(PMIX_CFLAGS) $(HWLOC_CFLAGS)
oshrun_LDADD  = $(PMIX_LIBS) $(HWLOC_LIBS)
