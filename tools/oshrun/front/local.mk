# SPDX-License-Identifier: BSD-3-Clause
# The front end: options, terminal, signals, output, exit status.
tools_oshrun_liboshrun_a_SOURCES += \
	tools/oshrun/front/exit_status.c \
	tools/oshrun/front/exit_status.h \
	tools/oshrun/front/export.c \
	tools/oshrun/front/export.h \
	tools/oshrun/front/front.c \
	tools/oshrun/front/front.h \
	tools/oshrun/front/front_events.c \
	tools/oshrun/front/front_ft.c \
	tools/oshrun/front/front_ft.h \
	tools/oshrun/front/front_int.h \
	tools/oshrun/front/front_io.c \
	tools/oshrun/front/front_merge.c \
	tools/oshrun/front/front_report.c \
	tools/oshrun/front/front_signals.c \
	tools/oshrun/front/front_sites.c \
	tools/oshrun/front/ft_settings.c \
	tools/oshrun/front/ft_settings.h \
	tools/oshrun/front/options.c \
	tools/oshrun/front/options.h \
	tools/oshrun/front/options.def \
	tools/oshrun/front/out.c \
	tools/oshrun/front/out.h \
	tools/oshrun/front/profile_report.c \
	tools/oshrun/front/profile_report.h \
	tools/oshrun/front/timing.c \
	tools/oshrun/front/timing.h
