# SPDX-License-Identifier: BSD-3-Clause
# tests/unit/kernels/local.mk - the reduction, pack and matching kernels on processors that are not here, and with
# operands at all offsets from a cache line.  On this processor tests/unit/op_test, pack_kernels_test and match_test
# run the same checks.
TESTS      += tests/unit/kernels/sve.sh tests/unit/kernels/offsets.sh
EXTRA_DIST += tests/unit/kernels/sve.sh tests/unit/kernels/sve.c tests/unit/kernels/sve_match.c tests/unit/kernels/sve_pack.c \
	tests/unit/kernels/offsets.awk tests/unit/kernels/offsets.sh tests/unit/kernels/offsets.txt
check_PROGRAMS += tests/unit/kernels/offsets
tests_unit_kernels_offsets_LDADD = $(libpgas)
