# SPDX-License-Identifier: BSD-3-Clause
# oshrun, the launcher.  All but its main is a library, for the tests.
bin_PROGRAMS += oshrun
noinst_LIBRARIES += tools/oshrun/liboshrun.a
oshrun_SOURCES = tools/oshrun/main.c
oshrun_CFLAGS = $(AM_CFLAGS) $(PMIX_CFLAGS) $(EVENT_CFLAGS) $(HWLOC_CFLAGS)
oshrun_LDADD  = tools/oshrun/liboshrun.a .libs/libft.a $(OSHRUN_LIBS)
oshrun_DEPENDENCIES = tools/oshrun/liboshrun.a .libs/libft.a
OSHRUN_LIBS   = $(PMIX_LIBS) $(EVENT_LIBS) $(HWLOC_LIBS) $(NETTLE_LIBS)

tools_oshrun_liboshrun_a_CFLAGS = \
	$(AM_CFLAGS) $(PMIX_CFLAGS) $(EVENT_CFLAGS) $(HWLOC_CFLAGS) $(NETTLE_CFLAGS)
tools_oshrun_liboshrun_a_SOURCES = pgas/ft/ft_map.c pgas/ft/ft_map.h

include tools/oshrun/daemon/local.mk
include tools/oshrun/front/local.mk
include tools/oshrun/map/local.mk
include tools/oshrun/net/local.mk
include tools/oshrun/pmix/local.mk
include tools/oshrun/reaper/local.mk
include tools/oshrun/start/local.mk
include tools/oshrun/util/local.mk
