# SPDX-License-Identifier: BSD-3-Clause
# examples/local.mk - programs to copy from.  Built here to be tested; a user compiles
# them with oshcc alone.
noinst_PROGRAMS += examples/hello examples/ring examples/heat examples/gups examples/sort \
	examples/wordcount examples/faces examples/ft_stencil examples/ft_sum
examples_wordcount_SOURCES = examples/wordcount.c examples/wordtable.c examples/wordtable.h

examples_ft_stencil_SOURCES = examples/ft_stencil.c examples/ft_kill.h
examples_ft_sum_SOURCES = examples/ft_sum.c examples/ft_kill.h

EXTRA_DIST += examples/wordcount-check
