# SPDX-License-Identifier: BSD-3-Clause
# tests/unit/fuzz/local.mk - all parsers, with mutations of valid inputs.
check_PROGRAMS += tests/unit/fuzz/fuzz
tests_unit_fuzz_fuzz_LDADD = tools/oshrun/liboshrun.a $(libpgas) $(OSHRUN_LIBS)
TESTS += tests/unit/fuzz/fuzz
