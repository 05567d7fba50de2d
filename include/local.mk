# SPDX-License-Identifier: BSD-3-Clause
# The public headers.  tools/gen-headers makes three of them from the type table and the
# templates: run by autogen.sh, and by these rules after a change of a source.
include_HEADERS = include/shmem.h include/pshmem.h include/shmemx.h
mppdir = $(includedir)/mpp
dist_mpp_HEADERS = include/mpp/shmem.h include/mpp/shmemx.h

header_sources = include/shmem_types.def include/shmem.h.in include/shmemx.h.in \
	tools/gen-header tools/gen-headers
EXTRA_DIST += $(header_sources)

$(include_HEADERS): $(header_sources)
	$(AM_V_GEN)AWK='$(AWK)' $(srcdir)/tools/gen-headers $(@F)
