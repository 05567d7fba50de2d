# SPDX-License-Identifier: BSD-3-Clause
# The PMIx server of a node daemon.
tools_oshrun_liboshrun_a_SOURCES += \
	tools/oshrun/pmix/pmix_api.h \
	tools/oshrun/pmix/pmix_collective.c \
	tools/oshrun/pmix/pmix_event.c \
	tools/oshrun/pmix/pmix_host.c \
	tools/oshrun/pmix/pmix_host.h \
	tools/oshrun/pmix/pmix_int.h \
	tools/oshrun/pmix/pmix_job.c \
	tools/oshrun/pmix/pmix_modex.c \
	tools/oshrun/pmix/pmix_net.c \
	tools/oshrun/pmix/pmix_net.h \
	tools/oshrun/pmix/pmix_query.c \
	tools/oshrun/pmix/pmix_upcalls.c
