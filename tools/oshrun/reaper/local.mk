# SPDX-License-Identifier: BSD-3-Clause
# The process that ends a daemon's PEs and removes its files, and the daemon's watchdog.
tools_oshrun_liboshrun_a_SOURCES += \
	tools/oshrun/reaper/reaper.c \
	tools/oshrun/reaper/reaper.h \
	tools/oshrun/reaper/watchdog.c \
	tools/oshrun/reaper/watchdog.h
