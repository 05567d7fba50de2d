# SPDX-License-Identifier: BSD-3-Clause
# docs/man/local.mk - the manual pages of the routines: one page per section of the
# specification.  A page is added to one of these lists and nowhere else; which routines
# it describes, the page says itself (tools/man-names).  What pages share is in parts.md
# (tools/man-parts).

# Overview and tables; library, memory, teams, contexts (9.1-9.5); ordering, locks,
# profiling (9.12-10); what is old
MAN3_A = \
	docs/man/shmem.7.md \
	docs/man/shmem_types.7.md \
	docs/man/shmem_env.7.md \
	docs/man/shmem_tuning.7.md \
	docs/man/shmem_profile.7.md \
	docs/man/shmemx_ft.7.md \
	docs/man/shmem_init.3.md \
	docs/man/shmem_my_pe.3.md \
	docs/man/shmem_n_pes.3.md \
	docs/man/shmem_finalize.3.md \
	docs/man/shmem_query_initialized.3.md \
	docs/man/shmem_global_exit.3.md \
	docs/man/shmem_pe_accessible.3.md \
	docs/man/shmem_addr_accessible.3.md \
	docs/man/shmem_ptr.3.md \
	docs/man/shmem_team_ptr.3.md \
	docs/man/shmem_info_get_version.3.md \
	docs/man/shmem_info_get_name.3.md \
	docs/man/start_pes.3.md \
	docs/man/shmem_init_thread.3.md \
	docs/man/shmem_query_thread.3.md \
	docs/man/shmem_malloc.3.md \
	docs/man/shmem_free.3.md \
	docs/man/shmem_realloc.3.md \
	docs/man/shmem_align.3.md \
	docs/man/shmem_malloc_with_hints.3.md \
	docs/man/shmem_calloc.3.md \
	docs/man/shmem_team_my_pe.3.md \
	docs/man/shmem_team_n_pes.3.md \
	docs/man/shmem_team_config_t.3.md \
	docs/man/shmem_team_get_config.3.md \
	docs/man/shmem_team_translate_pe.3.md \
	docs/man/shmem_team_split_strided.3.md \
	docs/man/shmem_team_split_2d.3.md \
	docs/man/shmem_team_destroy.3.md \
	docs/man/shmem_ctx_create.3.md \
	docs/man/shmem_team_create_ctx.3.md \
	docs/man/shmem_ctx_destroy.3.md \
	docs/man/shmem_ctx_get_team.3.md \
	docs/man/shmem_fence.3.md \
	docs/man/shmem_quiet.3.md \
	docs/man/shmem_pe_quiet.3.md \
	docs/man/shmem_lock.3.md \
	docs/man/shmem_pcontrol.3.md \
	docs/man/pshmem.3.md \
	docs/man/shmemx_team_create.3.md \
	docs/man/shmemx_shared_create.3.md \
	docs/man/shmemx_layout.3.md \
	docs/man/shmemx_put_layout.3.md \
	docs/man/shmemx_pe_failed.3.md \
	docs/man/shmemx_team_shrink.3.md \
	docs/man/shmem_deprecated.3.md \
	docs/man/shmem_cache.3.md

# Remote memory access, atomics, signals, sessions, collectives, synchronization (9.6-9.11)
MAN3_B = \
	docs/man/shmem_put.3.md \
	docs/man/shmem_p.3.md \
	docs/man/shmem_iput.3.md \
	docs/man/shmem_ibput.3.md \
	docs/man/shmem_get.3.md \
	docs/man/shmem_g.3.md \
	docs/man/shmem_iget.3.md \
	docs/man/shmem_ibget.3.md \
	docs/man/shmem_put_nbi.3.md \
	docs/man/shmem_get_nbi.3.md \
	docs/man/shmem_atomic_fetch.3.md \
	docs/man/shmem_atomic_set.3.md \
	docs/man/shmem_atomic_compare_swap.3.md \
	docs/man/shmem_atomic_swap.3.md \
	docs/man/shmem_atomic_fetch_inc.3.md \
	docs/man/shmem_atomic_inc.3.md \
	docs/man/shmem_atomic_fetch_add.3.md \
	docs/man/shmem_atomic_add.3.md \
	docs/man/shmem_atomic_fetch_and.3.md \
	docs/man/shmem_atomic_and.3.md \
	docs/man/shmem_atomic_fetch_or.3.md \
	docs/man/shmem_atomic_or.3.md \
	docs/man/shmem_atomic_fetch_xor.3.md \
	docs/man/shmem_atomic_xor.3.md \
	docs/man/shmem_atomic_fetch_nbi.3.md \
	docs/man/shmem_atomic_compare_swap_nbi.3.md \
	docs/man/shmem_atomic_swap_nbi.3.md \
	docs/man/shmem_atomic_fetch_inc_nbi.3.md \
	docs/man/shmem_atomic_fetch_add_nbi.3.md \
	docs/man/shmem_atomic_fetch_and_nbi.3.md \
	docs/man/shmem_atomic_fetch_or_nbi.3.md \
	docs/man/shmem_atomic_fetch_xor_nbi.3.md \
	docs/man/shmem_put_signal.3.md \
	docs/man/shmem_put_signal_nbi.3.md \
	docs/man/shmem_signal_add.3.md \
	docs/man/shmem_signal_fetch.3.md \
	docs/man/shmem_signal_set.3.md \
	docs/man/shmem_ctx_session_config_t.3.md \
	docs/man/shmem_ctx_session_start.3.md \
	docs/man/shmem_ctx_session_stop.3.md \
	docs/man/shmem_barrier_all.3.md \
	docs/man/shmem_barrier.3.md \
	docs/man/shmem_sync.3.md \
	docs/man/shmem_sync_all.3.md \
	docs/man/shmem_alltoall.3.md \
	docs/man/shmem_alltoalls.3.md \
	docs/man/shmem_broadcast.3.md \
	docs/man/shmem_collect.3.md \
	docs/man/shmem_reduce.3.md \
	docs/man/shmem_scan.3.md \
	docs/man/shmem_wait_until.3.md \
	docs/man/shmem_wait_until_all.3.md \
	docs/man/shmem_wait_until_any.3.md \
	docs/man/shmem_wait_until_some.3.md \
	docs/man/shmem_wait_until_all_vector.3.md \
	docs/man/shmem_wait_until_any_vector.3.md \
	docs/man/shmem_wait_until_some_vector.3.md \
	docs/man/shmem_test.3.md \
	docs/man/shmem_test_all.3.md \
	docs/man/shmem_test_any.3.md \
	docs/man/shmem_test_some.3.md \
	docs/man/shmem_test_all_vector.3.md \
	docs/man/shmem_test_any_vector.3.md \
	docs/man/shmem_test_some_vector.3.md \
	docs/man/shmem_signal_wait_until.3.md

MAN_MD   = $(MAN3_A) $(MAN3_B)
MAN_MADE = $(MAN_MD:.md=)
man_MANS   += $(MAN_MADE)
CLEANFILES += $(MAN_MADE)
EXTRA_DIST += $(MAN_MD) docs/man/parts.md tools/man-names tools/man-parts

SUFFIXES += .md
.md:
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	sh $(GEN_MAN) $(PACKAGE_VERSION) $< >$@.tmp && mv -f $@.tmp $@
$(MAN_MADE): $(GEN_MAN) $(top_srcdir)/tools/man-parts $(top_srcdir)/docs/man/parts.md \
	$(top_srcdir)/include/shmem_types.def \
	$(top_srcdir)/pgas/core/base/env.def

# A page for each name, which refers to the page that has the text.
man_links = cd $(srcdir) && sh tools/man-names $(MAN_MD) | sort -u -k 2,2 | \
	$(AWK) -v dir="$(DESTDIR)$(man3dir)"

install-data-hook: install-man-links
uninstall-hook: uninstall-man-links
install-man-links:
	$(AM_V_at)$(MKDIR_P) "$(DESTDIR)$(man3dir)" && $(man_links) \
	    '$$2 != $$3 { page = dir "/" $$2 ".3"; print ".so man3/" $$3 ".3" >page; close(page) }'
uninstall-man-links:
	$(AM_V_at)$(man_links) '$$2 != $$3 { print dir "/" $$2 ".3" }' | \
	    tr '\n' '\0' | xargs -0 rm -f
.PHONY: install-man-links uninstall-man-links
