# SPDX-License-Identifier: BSD-3-Clause
# examples/local.mk - programs to copy from.  Built here to be tested; a user compiles
# them with oshcc alone.
examples_link = $(AM_LDFLAGS) -no-install

noinst_PROGRAMS += examples/hello
examples_hello_SOURCES = examples/hello.c
examples_hello_LDADD = libshmem.la
examples_hello_LDFLAGS = $(examples_link)

noinst_PROGRAMS += examples/ring
examples_ring_SOURCES = examples/ring.c
examples_ring_LDADD = libshmem.la
examples_ring_LDFLAGS = $(examples_link)

noinst_PROGRAMS += examples/heat
examples_heat_SOURCES = examples/heat.c
examples_heat_LDADD = libshmem.la
examples_heat_LDFLAGS = $(examples_link)

noinst_PROGRAMS += examples/gups
examples_gups_SOURCES = examples/gups.c
examples_gups_LDADD = libshmem.la
examples_gups_LDFLAGS = $(examples_link)

noinst_PROGRAMS += examples/sort
examples_sort_SOURCES = examples/sort.c
examples_sort_LDADD = libshmem.la
examples_sort_LDFLAGS = $(examples_link)

noinst_PROGRAMS += examples/wordcount
examples_wordcount_SOURCES = examples/wordcount.c examples/wordtable.c \
	examples/wordtable.h
examples_wordcount_LDADD = libshmem.la
examples_wordcount_LDFLAGS = $(examples_link)

EXTRA_DIST += examples/wordcount-check
