# SPDX-License-Identifier: BSD-3-Clause
# Starts the daemons and holds the connections to them.
tools_oshrun_liboshrun_a_SOURCES += \
	tools/oshrun/start/agent.c \
	tools/oshrun/start/command.c \
	tools/oshrun/start/daemons.c \
	tools/oshrun/start/daemons_ft.c \
	tools/oshrun/start/daemons.h \
	tools/oshrun/start/daemons_int.h \
	tools/oshrun/start/daemons_recv.c \
	tools/oshrun/start/daemons_send.c \
	tools/oshrun/start/launcher.c \
	tools/oshrun/start/launcher.h \
	tools/oshrun/start/srun.c \
	tools/oshrun/start/starter.c \
	tools/oshrun/start/starter.h \
	tools/oshrun/start/starter_int.h
