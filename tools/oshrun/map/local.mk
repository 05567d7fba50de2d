# SPDX-License-Identifier: BSD-3-Clause
# Which PE runs on which host and CPU.
tools_oshrun_liboshrun_a_SOURCES += \
	tools/oshrun/map/hosts.c \
	tools/oshrun/map/hosts.h \
	tools/oshrun/map/hosts_file.c \
	tools/oshrun/map/hosts_slurm.c \
	tools/oshrun/map/lines.c \
	tools/oshrun/map/lines.h \
	tools/oshrun/map/map.c \
	tools/oshrun/map/map.h \
	tools/oshrun/map/names.c \
	tools/oshrun/map/names.h \
	tools/oshrun/map/plan.c \
	tools/oshrun/map/plan.h \
	tools/oshrun/map/rank_file.c \
	tools/oshrun/map/rank_file.h
