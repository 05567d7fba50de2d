# SPDX-License-Identifier: BSD-3-Clause
# Unit tests: tests/unit/X_test.c tests pgas/*/X.c through its internal names.
UNIT_TESTS = \
	tests/unit/alloc_test tests/unit/block_test tests/unit/copy_test \
	tests/unit/env_test tests/unit/isa_test tests/unit/op_test tests/unit/peer_test \
	tests/unit/pool_test tests/unit/slot_test tests/unit/team_test tests/unit/tree_test tests/unit/adapt_test \
	tests/unit/select_test tests/unit/place_test tests/unit/tune_test
UNIT_TESTS += \
	tests/unit/command_test tests/unit/reaper_test tests/unit/starter_test
UNIT_TESTS += \
	tests/unit/connector_test tests/unit/listener_test tests/unit/link_test \
	tests/unit/link_life_test tests/unit/net_tree_test tests/unit/pack_test
UNIT_TESTS += tests/unit/bind_test tests/unit/hosts_test tests/unit/map_test \
	tests/unit/plan_test
UNIT_TESTS += tests/unit/gather_test tests/unit/pmix_net_test
UNIT_TESTS += tests/unit/hook_faults_test tests/unit/hook_test tests/unit/sim_test
UNIT_TESTS += tests/unit/bootstrap_test tests/unit/export_test tests/unit/job_test \
	tests/unit/route_test

if HAVE_CRITERION
check_PROGRAMS += $(UNIT_TESTS)
TESTS += $(UNIT_TESTS)
else
TESTS += tests/unit/no-criterion.sh
endif
EXTRA_DIST += tests/unit/no-criterion.sh tests/env.sh tests/lsan.supp

UNIT_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS) -Wno-pedantic
UNIT_LDADD = libpgas.la $(PMIX_LIBS) $(CRITERION_LIBS) -lpthread
UNIT_OSHRUN_LDADD = tools/oshrun/liboshrun.a $(OSHRUN_LIBS) $(CRITERION_LIBS) -lpthread

tests_unit_alloc_test_SOURCES = tests/unit/alloc_test.c
tests_unit_alloc_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_alloc_test_LDADD = $(UNIT_LDADD)
tests_unit_block_test_SOURCES = tests/unit/block_test.c
tests_unit_block_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_block_test_LDADD = $(UNIT_LDADD)
tests_unit_place_test_SOURCES = tests/unit/place_test.c
tests_unit_place_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_place_test_LDADD = $(UNIT_LDADD)
tests_unit_copy_test_SOURCES = tests/unit/copy_test.c
tests_unit_copy_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_copy_test_LDADD = $(UNIT_LDADD)
tests_unit_env_test_SOURCES = tests/unit/env_test.c
tests_unit_env_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_env_test_LDADD = $(UNIT_LDADD)
tests_unit_isa_test_SOURCES = tests/unit/isa_test.c
tests_unit_isa_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_isa_test_LDADD = $(UNIT_LDADD)
tests_unit_op_test_SOURCES = tests/unit/op_test.c tests/kernels/check.c \
	tests/kernels/check.h
tests_unit_op_test_CFLAGS = $(UNIT_CFLAGS) -ffp-contract=off
tests_unit_op_test_LDADD = $(UNIT_LDADD)
tests_unit_peer_test_SOURCES = tests/unit/peer_test.c
tests_unit_peer_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_peer_test_LDADD = $(UNIT_LDADD)
tests_unit_team_test_SOURCES = tests/unit/team_test.c
tests_unit_team_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_team_test_LDADD = $(UNIT_LDADD)
tests_unit_pool_test_SOURCES = tests/unit/pool_test.c
tests_unit_pool_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_pool_test_LDADD = $(UNIT_LDADD)
tests_unit_adapt_test_SOURCES = tests/unit/adapt_test.c
tests_unit_adapt_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_adapt_test_LDADD = $(UNIT_LDADD)
tests_unit_select_test_SOURCES = tests/unit/select_test.c
tests_unit_select_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_select_test_LDADD = $(UNIT_LDADD)
tests_unit_tune_test_SOURCES = tests/unit/tune_test.c \
	tools/oshmem_info/tune.h tools/oshmem_info/tune_best.c
tests_unit_tune_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_tune_test_LDADD = $(UNIT_LDADD) -lm
tests_unit_slot_test_SOURCES = tests/unit/slot_test.c
tests_unit_slot_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_slot_test_LDADD = $(UNIT_LDADD)
tests_unit_tree_test_SOURCES = tests/unit/tree_test.c
tests_unit_tree_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_tree_test_LDADD = $(UNIT_LDADD)
tests_unit_command_test_SOURCES = tests/unit/command_test.c
tests_unit_command_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_command_test_LDADD = $(UNIT_OSHRUN_LDADD)
tests_unit_reaper_test_SOURCES = tests/unit/reaper_test.c
tests_unit_reaper_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_reaper_test_LDADD = $(UNIT_OSHRUN_LDADD)
tests_unit_starter_test_SOURCES = tests/unit/starter_test.c
tests_unit_starter_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_starter_test_LDADD = $(UNIT_OSHRUN_LDADD)
tests_unit_connector_test_SOURCES = tests/unit/connector_test.c \
	tests/unit/listener_help.h tests/unit/net_help.h
tests_unit_connector_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_connector_test_LDADD = $(UNIT_OSHRUN_LDADD)
tests_unit_listener_test_SOURCES = tests/unit/listener_test.c \
	tests/unit/listener_help.h tests/unit/net_help.h
tests_unit_listener_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_listener_test_LDADD = $(UNIT_OSHRUN_LDADD)
tests_unit_link_test_SOURCES = tests/unit/link_test.c \
	tests/unit/link_help.h tests/unit/net_help.h
tests_unit_link_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_link_test_LDADD = $(UNIT_OSHRUN_LDADD)
tests_unit_link_life_test_SOURCES = tests/unit/link_life_test.c \
	tests/unit/link_help.h tests/unit/net_help.h
tests_unit_link_life_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_link_life_test_LDADD = $(UNIT_OSHRUN_LDADD)
tests_unit_net_tree_test_SOURCES = tests/unit/net_tree_test.c
tests_unit_net_tree_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_net_tree_test_LDADD = $(UNIT_OSHRUN_LDADD)
tests_unit_pack_test_SOURCES = tests/unit/pack_test.c
tests_unit_pack_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_pack_test_LDADD = $(UNIT_OSHRUN_LDADD)
tests_unit_hosts_test_SOURCES = tests/unit/hosts_test.c
tests_unit_hosts_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_hosts_test_LDADD = $(UNIT_OSHRUN_LDADD)
tests_unit_map_test_SOURCES = tests/unit/map_test.c
tests_unit_map_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_map_test_LDADD = $(UNIT_OSHRUN_LDADD)
tests_unit_plan_test_SOURCES = tests/unit/plan_test.c
tests_unit_plan_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_plan_test_LDADD = $(UNIT_OSHRUN_LDADD)
tests_unit_gather_test_SOURCES = tests/unit/gather_test.c
tests_unit_gather_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_gather_test_LDADD = $(UNIT_OSHRUN_LDADD)
tests_unit_bind_test_SOURCES = tests/unit/bind_test.c
tests_unit_bind_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_bind_test_LDADD = $(UNIT_OSHRUN_LDADD)
tests_unit_pmix_net_test_SOURCES = tests/unit/pmix_net_test.c
tests_unit_pmix_net_test_CFLAGS = $(UNIT_CFLAGS) $(PMIX_CFLAGS) $(HWLOC_CFLAGS)
tests_unit_pmix_net_test_LDADD = $(UNIT_OSHRUN_LDADD)
tests_unit_bootstrap_test_SOURCES = tests/unit/bootstrap_test.c
tests_unit_bootstrap_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_bootstrap_test_LDADD = $(UNIT_OSHRUN_LDADD)
tests_unit_export_test_SOURCES = tests/unit/export_test.c
tests_unit_export_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_export_test_LDADD = $(UNIT_OSHRUN_LDADD)
tests_unit_job_test_SOURCES = tests/unit/job_test.c
tests_unit_job_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_job_test_LDADD = $(UNIT_OSHRUN_LDADD)
tests_unit_route_test_SOURCES = tests/unit/route_test.c \
	tests/unit/link_help.h tests/unit/net_help.h
tests_unit_route_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_route_test_LDADD = $(UNIT_OSHRUN_LDADD)
tests_unit_hook_faults_test_SOURCES = tests/unit/hook_faults_test.c
tests_unit_hook_faults_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_hook_faults_test_LDADD = $(UNIT_LDADD)
tests_unit_hook_test_SOURCES = tests/unit/hook_test.c
tests_unit_hook_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_hook_test_LDADD = $(UNIT_LDADD)
tests_unit_sim_test_SOURCES = tests/unit/sim_test.c
tests_unit_sim_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_sim_test_LDADD = libsim.la $(UNIT_LDADD)
