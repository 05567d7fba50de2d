# SPDX-License-Identifier: BSD-3-Clause
# tests/ported/local.mk - programs that others wrote, and published algorithms in the style
# of their time: see README.md there.
ported_link = $(AM_LDFLAGS) -no-install
ported_programs = \
	tests/ported/cg.pes \
	tests/ported/collatz.pes \
	tests/ported/fft.pes \
	tests/ported/gups.pes \
	tests/ported/isx.pes \
	tests/ported/psrs.pes \
	tests/ported/scan.pes \
	tests/ported/summa.pes
check_PROGRAMS += $(ported_programs)

tests_ported_cg_pes_SOURCES = tests/ported/cg.c
tests_ported_cg_pes_LDADD = libshmem.la -lm
tests_ported_cg_pes_LDFLAGS = $(ported_link)
tests_ported_collatz_pes_SOURCES = tests/ported/collatz.c
tests_ported_collatz_pes_LDADD = libshmem.la
tests_ported_collatz_pes_LDFLAGS = $(ported_link)
tests_ported_fft_pes_SOURCES = tests/ported/fft.c
tests_ported_fft_pes_LDADD = libshmem.la -lm
tests_ported_fft_pes_LDFLAGS = $(ported_link)
tests_ported_gups_pes_SOURCES = tests/ported/gups.c
tests_ported_gups_pes_LDADD = libshmem.la
tests_ported_gups_pes_LDFLAGS = $(ported_link)
tests_ported_isx_pes_SOURCES = tests/ported/isx.c
tests_ported_isx_pes_LDADD = libshmem.la
tests_ported_isx_pes_LDFLAGS = $(ported_link)
tests_ported_psrs_pes_SOURCES = tests/ported/psrs.c
tests_ported_psrs_pes_LDADD = libshmem.la
tests_ported_psrs_pes_LDFLAGS = $(ported_link)
tests_ported_scan_pes_SOURCES = tests/ported/scan.c
tests_ported_scan_pes_LDADD = libshmem.la
tests_ported_scan_pes_LDFLAGS = $(ported_link)
tests_ported_summa_pes_SOURCES = tests/ported/summa.c
tests_ported_summa_pes_LDADD = libshmem.la
tests_ported_summa_pes_LDFLAGS = $(ported_link)

ported_scripts = \
	tests/ported/debian_netpipe.sh \
	tests/ported/debian_openmpi.sh \
	tests/ported/debian_pages.sh \
	tests/ported/hashmap.sh \
	tests/ported/old.sh

TESTS      += $(ported_programs) $(ported_scripts)
EXTRA_DIST += tests/ported/README.md tests/ported/fetch-debian tests/ported/hashmap.cc \
	tests/ported/lib.sh $(ported_scripts)
