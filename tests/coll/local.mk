# SPDX-License-Identifier: BSD-3-Clause
# tests/coll/local.mk - the algorithms of the collectives.
coll_tests = \
	tests/coll/stress.sh \
	tests/coll/threads.sh
TESTS      += $(coll_tests)
EXTRA_DIST += $(coll_tests) tests/coll/threads.c tests/coll/threads_one_pe.c

# The arrival profile
check_PROGRAMS += tests/coll/profile
tests_coll_profile_SOURCES = tests/coll/profile.c
tests_coll_profile_LDADD = libshmem.la
tests_coll_profile_LDFLAGS = $(AM_LDFLAGS) -no-install
TESTS      += tests/coll/profile.sh
EXTRA_DIST += tests/coll/profile.sh

# Node-shared results
check_PROGRAMS += tests/coll/shared
tests_coll_shared_SOURCES = tests/coll/shared.c tests/multi/coll.h tests/multi/check.h
tests_coll_shared_LDADD = libshmem.la
tests_coll_shared_LDFLAGS = $(AM_LDFLAGS) -no-install
TESTS      += tests/coll/shared.sh
EXTRA_DIST += tests/coll/shared.sh

# Nonblocking collectives, which are not public
check_PROGRAMS += tests/coll/nb
tests_coll_nb_SOURCES = tests/coll/nb.c tests/multi/coll.h tests/multi/check.h
tests_coll_nb_LDADD = libpgas.la $(PMIX_LIBS) -lpthread
tests_coll_nb_LDFLAGS = $(AM_LDFLAGS) -no-install
TESTS      += tests/coll/nb.sh
EXTRA_DIST += tests/coll/nb.sh

# Large collectives between nodes, with every algorithm
check_PROGRAMS += tests/coll/internode
tests_coll_internode_SOURCES = tests/coll/internode.c tests/multi/coll.h tests/multi/check.h
tests_coll_internode_LDADD = libpgas.la $(PMIX_LIBS) -lpthread
tests_coll_internode_LDFLAGS = $(AM_LDFLAGS) -no-install
check_PROGRAMS += tests/coll/internode_departed
tests_coll_internode_departed_SOURCES = tests/coll/internode_departed.c tests/multi/check.h
tests_coll_internode_departed_LDADD = libpgas.la $(PMIX_LIBS) -lpthread
tests_coll_internode_departed_LDFLAGS = $(AM_LDFLAGS) -no-install
TESTS      += tests/coll/internode.sh
EXTRA_DIST += tests/coll/internode.sh
