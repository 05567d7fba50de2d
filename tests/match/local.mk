# SPDX-License-Identifier: BSD-3-Clause
# tests/match/local.mk - matching by several threads, and hot caching.  The scripts make the programs.
TESTS += tests/match/heater.sh tests/match/tail.sh
EXTRA_DIST += tests/match/delay.h tests/match/heater.sh tests/match/heater.c tests/match/heater_point.h tests/match/regions_mutants.txt \
	tests/match/tail.sh tests/match/tail.c tests/match/tail_point.h tests/match/mutants.txt
tests/match/heater.log tests/match/tail.log: .libs/libmatch.a
