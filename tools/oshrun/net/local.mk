# SPDX-License-Identifier: BSD-3-Clause
# Connections between the front end and the daemons.
tools_oshrun_liboshrun_a_SOURCES += \
	tools/oshrun/net/auth.c \
	tools/oshrun/net/auth.h \
	tools/oshrun/net/connector.c \
	tools/oshrun/net/gather.c \
	tools/oshrun/net/gather.h \
	tools/oshrun/net/heartbeat.c \
	tools/oshrun/net/heartbeat.h \
	tools/oshrun/net/link.c \
	tools/oshrun/net/link.h \
	tools/oshrun/net/listener.c \
	tools/oshrun/net/listener.h \
	tools/oshrun/net/pack.c \
	tools/oshrun/net/pack.h \
	tools/oshrun/net/record.c \
	tools/oshrun/net/record.h \
	tools/oshrun/net/route.c \
	tools/oshrun/net/route.h \
	tools/oshrun/net/tree.c \
	tools/oshrun/net/tree.h \
	tools/oshrun/net/wire.c \
	tools/oshrun/net/wire.def \
	tools/oshrun/net/wire.h
