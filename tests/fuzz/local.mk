# SPDX-License-Identifier: BSD-3-Clause
# tests/fuzz/local.mk - all parsers, with mutations of valid inputs.
check_PROGRAMS += tests/fuzz/fuzz
tests_fuzz_fuzz_LDADD = tools/oshrun/liboshrun.a $(libpgas) $(OSHRUN_LIBS)
TESTS += tests/fuzz/fuzz
