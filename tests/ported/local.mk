# SPDX-License-Identifier: BSD-3-Clause
# tests/ported/local.mk - programs that others wrote, and published algorithms in the style
# of their time: see README.md there.
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

ported_scripts = \
	tests/ported/debian_netpipe.sh \
	tests/ported/debian_openmpi.sh \
	tests/ported/debian_pages.sh \
	tests/ported/hashmap.sh \
	tests/ported/old.sh

TESTS      += $(ported_programs) $(ported_scripts)
EXTRA_DIST += tests/ported/README.md tests/ported/fetch-debian tests/ported/hashmap.cc \
	tests/ported/lib.sh $(ported_scripts)
