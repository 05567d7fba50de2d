# SPDX-License-Identifier: BSD-3-Clause
# compat/mpi/local.mk - message matching, the first part of the MPI shim.  Nothing that
# is installed contains it yet.
noinst_LTLIBRARIES += libmatch.la
libmatch_la_SOURCES = \
	compat/mpi/match/match.c compat/mpi/match/match.h \
	compat/mpi/match/match_bins.c compat/mpi/match/match_bins.h \
	compat/mpi/match/match_heater.c compat/mpi/match/match_heater.h \
	compat/mpi/match/match_regions.c compat/mpi/match/match_regions.h \
	compat/mpi/match/match_key.h compat/mpi/match/match_list.h \
	compat/mpi/match/match_node.h compat/mpi/match/match_nodes.c compat/mpi/match/match_nodes.h \
	compat/mpi/match/match_queue.c compat/mpi/match/match_queue.h \
	compat/mpi/match/match_split.h compat/mpi/match/match_tail.c compat/mpi/match/match_tail.h \
	compat/mpi/match/match_base.c $(match_source)
libmatch_la_CFLAGS = $(MATCH_CFLAGS) $(HWLOC_CFLAGS)
libmatch_la_LIBADD = $(match_libraries)
.libs/libmatch.a: libmatch.la ;

# The kernels: a library for each set of compiler flags, as in pgas/local.mk.
MATCH_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
match_source = compat/mpi/match/match_isas.h compat/mpi/match/match_kernels.h compat/mpi/match/match_scan.h
match_libraries =
if CPU_X86_64
noinst_LTLIBRARIES += libmatch_avx2.la libmatch_avx512.la
libmatch_avx2_la_SOURCES = compat/mpi/match/match_avx2.c $(match_source)
libmatch_avx2_la_CFLAGS = $(MATCH_CFLAGS) -mavx2
libmatch_avx512_la_SOURCES = compat/mpi/match/match_avx512.c $(match_source)
libmatch_avx512_la_CFLAGS = $(MATCH_CFLAGS) -mavx512f -mavx512bw -mavx512dq -mavx512vl
match_libraries += libmatch_avx2.la libmatch_avx512.la
endif
if CPU_AARCH64
noinst_LTLIBRARIES += libmatch_sve.la
libmatch_sve_la_SOURCES = compat/mpi/match/match_sve.c $(match_source)
libmatch_sve_la_CFLAGS = $(MATCH_CFLAGS) -march=armv8.2-a+sve
match_libraries += libmatch_sve.la
endif
EXTRA_DIST += compat/mpi/match/README.md
