# SPDX-License-Identifier: BSD-3-Clause
# How daemons get to their nodes.
tools_oshrun_liboshrun_a_SOURCES += \
	tools/oshrun/start/agent.c \
	tools/oshrun/start/command.c \
	tools/oshrun/start/launcher.c tools/oshrun/start/launcher.h \
	tools/oshrun/start/srun.c \
	tools/oshrun/start/starter.c tools/oshrun/start/starter.h \
	tools/oshrun/start/starter_int.h
