# SPDX-License-Identifier: BSD-3-Clause
# The node daemon.
tools_oshrun_liboshrun_a_SOURCES += \
	tools/oshrun/daemon/bind.c \
	tools/oshrun/daemon/bind.h \
	tools/oshrun/daemon/bootstrap.c \
	tools/oshrun/daemon/bootstrap.h \
	tools/oshrun/daemon/chassis.c \
	tools/oshrun/daemon/chassis.h \
	tools/oshrun/daemon/child.c \
	tools/oshrun/daemon/child.h \
	tools/oshrun/daemon/daemon.c \
	tools/oshrun/daemon/daemon.h \
	tools/oshrun/daemon/daemon_ft.c \
	tools/oshrun/daemon/daemon_int.h \
	tools/oshrun/daemon/daemon_main.c \
	tools/oshrun/daemon/daemon_main.h \
	tools/oshrun/daemon/daemon_wire.c \
	tools/oshrun/daemon/launch.c \
	tools/oshrun/daemon/launch.h \
	tools/oshrun/daemon/pe_io.c \
	tools/oshrun/daemon/pe_report.c \
	tools/oshrun/daemon/stack_place.c \
	tools/oshrun/daemon/stacks.c \
	tools/oshrun/daemon/stand_in.c \
	tools/oshrun/daemon/stand_in.h \
	tools/oshrun/daemon/tool.c \
	tools/oshrun/daemon/tool.h
