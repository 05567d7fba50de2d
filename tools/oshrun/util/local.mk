# SPDX-License-Identifier: BSD-3-Clause
# Event loop, buffers, error messages, the description of the job.
tools_oshrun_liboshrun_a_SOURCES += \
	tools/oshrun/util/error.c \
	tools/oshrun/util/error.h \
	tools/oshrun/util/iobuf.c \
	tools/oshrun/util/iobuf.h \
	tools/oshrun/util/job.c \
	tools/oshrun/util/job.h \
	tools/oshrun/util/loop.c \
	tools/oshrun/util/loop.h \
	tools/oshrun/util/mem.c \
	tools/oshrun/util/mem.h \
	tools/oshrun/util/ranks.c \
	tools/oshrun/util/ranks.h \
	tools/oshrun/util/string_list.c \
	tools/oshrun/util/string_list.h
