# SPDX-License-Identifier: BSD-3-Clause
# tests/ft/protocol/local.mk - simulation of the failure protocols (pgas/ft).
# protocol.sh makes the programs.
ft_cluster = tests/ft/protocol/cluster.c tests/ft/protocol/cluster.h \
	tests/ft/protocol/queue.c tests/ft/protocol/queue.h \
	tests/ft/protocol/verify.c
EXTRA_PROGRAMS += tests/ft/protocol/random tests/ft/protocol/scale \
	tests/ft/protocol/golden
tests_ft_protocol_random_CPPFLAGS = $(AM_CPPFLAGS)
tests_ft_protocol_random_SOURCES = tests/ft/protocol/random.c $(ft_cluster)
tests_ft_protocol_random_LDADD = .libs/libft.a
tests_ft_protocol_scale_SOURCES = tests/ft/protocol/scale.c tests/ft/protocol/swim.c \
	tests/ft/protocol/swim.h $(ft_cluster)
tests_ft_protocol_scale_LDADD = .libs/libft.a -lm
tests_ft_protocol_golden_SOURCES = tests/ft/protocol/golden.c $(ft_cluster)
tests_ft_protocol_golden_LDADD = .libs/libft.a
tests/ft/protocol/random tests/ft/protocol/scale tests/ft/protocol/golden: .libs/libft.a

TESTS += tests/ft/protocol/protocol.sh
EXTRA_DIST += tests/ft/protocol/protocol.sh tests/ft/protocol/mutants.txt \
	tests/ft/protocol/golden-one-failure.txt tests/ft/protocol/golden-contiguous.txt \
	 tests/ft/protocol/golden-coordinator.txt
