# SPDX-License-Identifier: BSD-3-Clause
# tests/api/ported/local.mk - third-party programs, and published algorithms in old SHMEM;
# see README.md.
ported_programs = \
	tests/api/ported/cg.pes \
	tests/api/ported/collatz.pes \
	tests/api/ported/fft.pes \
	tests/api/ported/gups.pes \
	tests/api/ported/isx.pes \
	tests/api/ported/psrs.pes \
	tests/api/ported/scan.pes \
	tests/api/ported/summa.pes
check_PROGRAMS += $(ported_programs)

ported_scripts = \
	tests/api/ported/debian_netpipe.sh \
	tests/api/ported/debian_openmpi.sh \
	tests/api/ported/debian_pages.sh \
	tests/api/ported/hashmap.sh \
	tests/api/ported/old.sh

TESTS      += $(ported_programs) $(ported_scripts)
EXTRA_DIST += tests/api/ported/README.md tests/api/ported/fetch-debian tests/api/ported/hashmap.cc \
	tests/api/ported/lib.sh $(ported_scripts)
