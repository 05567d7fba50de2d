# SPDX-License-Identifier: BSD-3-Clause
# examples/local.mk - programs to copy from.  Built here to be tested; a user compiles
# them with oshcc alone.
noinst_PROGRAMS += examples/hello examples/ring examples/heat examples/gups examples/sort \
	examples/wordcount
examples_wordcount_SOURCES = examples/wordcount.c examples/wordtable.c examples/wordtable.h

EXTRA_DIST += examples/wordcount-check
