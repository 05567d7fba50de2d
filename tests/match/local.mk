# SPDX-License-Identifier: BSD-3-Clause
# tests/match/local.mk - matching by several threads.  tail.sh makes the programs.
TESTS += tests/match/tail.sh
EXTRA_DIST += tests/match/tail.sh tests/match/tail.c tests/match/tail_point.h tests/match/mutants.txt
tests/match/tail.log: .libs/libmatch.a
