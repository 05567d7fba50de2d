# SPDX-License-Identifier: BSD-3-Clause
# The node daemon.
tools_oshrun_liboshrun_a_SOURCES += \
	tools/oshrun/node/bind.c tools/oshrun/node/bind.h \
	tools/oshrun/node/birth.c tools/oshrun/node/birth.h \
	tools/oshrun/node/child.c tools/oshrun/node/child.h \
	tools/oshrun/node/daemon.c tools/oshrun/node/daemon.h \
	tools/oshrun/node/daemon_int.h \
	tools/oshrun/node/daemon_main.c tools/oshrun/node/daemon_main.h \
	tools/oshrun/node/daemon_say.c tools/oshrun/node/daemon_say.h \
	tools/oshrun/node/iobuf.c tools/oshrun/node/iobuf.h \
	tools/oshrun/node/janitor.c tools/oshrun/node/janitor.h \
	tools/oshrun/node/launch.c tools/oshrun/node/launch.h \
	tools/oshrun/node/pe_io.c \
	tools/oshrun/node/pmix_api.h tools/oshrun/node/pmix_int.h \
	tools/oshrun/node/pmix_collective.c tools/oshrun/node/pmix_event.c \
	tools/oshrun/node/pmix_host.c tools/oshrun/node/pmix_host.h \
	tools/oshrun/node/pmix_job.c tools/oshrun/node/pmix_modex.c \
	tools/oshrun/node/pmix_net.c tools/oshrun/node/pmix_net.h \
	tools/oshrun/node/pmix_query.c tools/oshrun/node/pmix_upcalls.c \
	tools/oshrun/node/report.c \
	tools/oshrun/node/stacks.c
