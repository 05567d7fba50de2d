# SPDX-License-Identifier: BSD-3-Clause
# Connections between the front and the daemons.
tools_oshrun_liboshrun_a_SOURCES += \
	tools/oshrun/net/address.c tools/oshrun/net/address.h \
	tools/oshrun/net/auth.c tools/oshrun/net/auth.h \
	tools/oshrun/net/dial.c \
	tools/oshrun/net/door.c tools/oshrun/net/door.h \
	tools/oshrun/net/gather.c tools/oshrun/net/gather.h \
	tools/oshrun/net/link.c tools/oshrun/net/link.h \
	tools/oshrun/net/pack.c tools/oshrun/net/pack.h \
	tools/oshrun/net/route.c tools/oshrun/net/route.h \
	tools/oshrun/net/tree.c tools/oshrun/net/tree.h \
	tools/oshrun/net/wire.c tools/oshrun/net/wire.h tools/oshrun/net/wire.def
