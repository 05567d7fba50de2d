# SPDX-License-Identifier: BSD-3-Clause
# The public headers.  shmem.h and pshmem.h are made from shmem.h.in and the type table
# by tools/gen-header, shmemx.h from shmemx.h.in, and kept in the tree: `make headers`
# after a change of one of these.
include_HEADERS = include/shmem.h include/pshmem.h include/shmemx.h
mppdir = $(includedir)/mpp
dist_mpp_HEADERS = include/mpp/shmem.h include/mpp/shmemx.h

EXTRA_DIST += include/shmem_types.def include/shmem.h.in include/shmemx.h.in \
	tools/gen-header

headers:
	$(AWK) -v prefix=shmem -f $(srcdir)/tools/gen-header \
	    $(srcdir)/include/shmem_types.def $(srcdir)/include/shmem.h.in \
	    >$(srcdir)/include/shmem.h
	$(AWK) -v prefix=pshmem -f $(srcdir)/tools/gen-header \
	    $(srcdir)/include/shmem_types.def $(srcdir)/include/shmem.h.in \
	    >$(srcdir)/include/pshmem.h
	$(AWK) -v prefix=shmem -f $(srcdir)/tools/gen-header \
	    $(srcdir)/include/shmem_types.def $(srcdir)/include/shmemx.h.in \
	    >$(srcdir)/include/shmemx.h
.PHONY: headers
