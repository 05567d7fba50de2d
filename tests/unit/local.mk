# SPDX-License-Identifier: BSD-3-Clause
# Unit tests: tests/unit/X_test.c tests pgas/*/X.c or tools/oshrun/*/X.c through its internal
# names.
UNIT_TESTS = \
	tests/unit/adapt_test tests/unit/adaptive_test tests/unit/alloc_test tests/unit/arrival_test \
	tests/unit/bind_test \
	tests/unit/block_test tests/unit/bootstrap_test tests/unit/chassis_test tests/unit/command_test \
	tests/unit/connector_test tests/unit/copy_test tests/unit/env_test \
	tests/unit/exit_status_test tests/unit/export_test tests/unit/ft_bmg_test tests/unit/ft_proto_test \
	tests/unit/ft_ring_test tests/unit/ft_service_test tests/unit/gather_test tests/unit/groups_test tests/unit/hook_faults_test \
	tests/unit/hook_test tests/unit/hosts_test tests/unit/isa_test \
	tests/unit/job_test tests/unit/layout_test tests/unit/layouts_test tests/unit/link_life_test tests/unit/link_seal_test tests/unit/link_test \
	tests/unit/listener_test tests/unit/map_test tests/unit/match_test tests/unit/mcs_test tests/unit/net_tree_test tests/unit/patience_test \
	tests/unit/op_test tests/unit/pack_file_test tests/unit/pack_kernels_test tests/unit/pack_test \
	tests/unit/pack_tune_test tests/unit/peer_test tests/unit/perform_blocks_test \
	tests/unit/place_test tests/unit/placement_test tests/unit/plan_test tests/unit/pmix_net_test \
	tests/unit/pool_test tests/unit/reaper_test tests/unit/rings_test tests/unit/route_test \
	tests/unit/seal_test tests/unit/select_test tests/unit/sim_test tests/unit/slot_test tests/unit/stack_place_test \
	tests/unit/starter_test tests/unit/team_test tests/unit/ticket_test tests/unit/tree_test \
	tests/unit/tune_test
# The lock itself is compiled with delays, too.
tests_unit_ticket_test_SOURCES = tests/unit/ticket_test.c tests/unit/threads_point.h tests/unit/threads_run.h \
	pgas/threads/ticket.c
tests_unit_ticket_test_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS) -Wno-pedantic \
	-include $(top_srcdir)/tests/unit/threads_point.h
tests_unit_rings_test_SOURCES = tests/unit/rings_test.c tests/unit/threads_point.h
tests_unit_match_test_SOURCES = tests/unit/match_test.c tests/unit/kernels/check_match.c tests/unit/kernels/check_match.h
tests_unit_op_test_SOURCES = tests/unit/op_test.c tests/unit/kernels/check.c tests/unit/kernels/check.h
tests_unit_layout_test_SOURCES = tests/unit/layout_test.c tests/unit/kernels/random_layout.c \
	tests/unit/kernels/random_layout.h
tests_unit_layouts_test_SOURCES = tests/unit/layouts_test.c \
	tests/unit/kernels/check_layouts.c tests/unit/kernels/check_layouts.h \
	tests/unit/kernels/random_layout.c tests/unit/kernels/random_layout.h
tests_unit_pack_kernels_test_SOURCES = tests/unit/pack_kernels_test.c \
	tests/unit/kernels/check_pack.c tests/unit/kernels/check_pack.h \
	tests/unit/kernels/random_layout.c tests/unit/kernels/random_layout.h
tests_unit_tune_test_SOURCES = tests/unit/tune_test.c \
	tools/oshmem_info/tune.h tools/oshmem_info/tune_best.c \
	tools/oshmem_info/tune_plan.c

unit_objects = $(UNIT_TESTS:=.$(OBJEXT)) tests/unit/kernels/check.$(OBJEXT) tests/unit/kernels/check_pack.$(OBJEXT) \
	tests/unit/kernels/check_match.$(OBJEXT) tests/unit/kernels/check_layouts.$(OBJEXT) tests/unit/kernels/random_layout.$(OBJEXT)
unit_libraries = .libs/libmatch.a .libs/libsim.a tools/oshrun/liboshrun.a .libs/libpgas.a
$(unit_objects): AM_CFLAGS += $(CRITERION_CFLAGS) $(PMIX_CFLAGS) $(EVENT_CFLAGS) \
	$(HWLOC_CFLAGS) -Wno-pedantic -ffp-contract=off
$(UNIT_TESTS): LDADD = $(unit_libraries) $(OSHRUN_LIBS) $(CRITERION_LIBS)
$(UNIT_TESTS): $(unit_libraries)

if HAVE_CRITERION
check_PROGRAMS += $(UNIT_TESTS)
TESTS += $(UNIT_TESTS)
else
TESTS += tests/unit/no-criterion.sh
endif
EXTRA_DIST += tests/unit/no-criterion.sh tests/env.sh tests/lsan.supp \
	tests/unit/link_help.h tests/unit/listener_help.h tests/unit/net_help.h
