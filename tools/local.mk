# SPDX-License-Identifier: BSD-3-Clause
# tools/local.mk - the compiler wrappers, oshmem_info and the manual pages of the tools.

# One script, four names.  make, not configure, substitutes the directories, so that
# `make prefix=...` takes effect; an installed oshcc finds a moved tree by itself.
OSHCC_NAMES = oshcc oshc++ oshcxx oshCC
bin_SCRIPTS += $(OSHCC_NAMES)
CLEANFILES  += $(OSHCC_NAMES)
EXTRA_DIST  += tools/oshcc.in tools/gen-man tools/libtool-compile

OSHCC_EDIT = $(SED) -e 's|@CC[@]|$(CC)|g' -e 's|@CXX[@]|$(CXX)|g' \
	-e 's|@SAN_CFLAGS[@]|$(SAN_CFLAGS)|g' \
	-e 's|@PACKAGE_VERSION[@]|$(PACKAGE_VERSION)|g' \
	-e 's|@prefix[@]|$(prefix)|g' -e 's|@bindir[@]|$(bindir)|g' \
	-e 's|@includedir[@]|$(includedir)|g' -e 's|@libdir[@]|$(libdir)|g'

$(OSHCC_NAMES): $(top_srcdir)/tools/oshcc.in Makefile
	$(AM_V_GEN)case $@ in oshcc) lang=c ;; *) lang=c++ ;; esac; \
	rm -f $@.tmp && \
	$(OSHCC_EDIT) -e "s|@lang[@]|$$lang|g" $(srcdir)/tools/oshcc.in >$@.tmp && \
	chmod 755 $@.tmp && mv -f $@.tmp $@

bin_PROGRAMS += oshmem_info
oshmem_info_SOURCES = \
	tools/oshmem_info/algorithms.c \
	tools/oshmem_info/check.c \
	tools/oshmem_info/check_kernel.c \
	tools/oshmem_info/check_network.c \
	tools/oshmem_info/check_pmix.c \
	tools/oshmem_info/check_setup.c \
	tools/oshmem_info/info.h \
	tools/oshmem_info/emit.c \
	tools/oshmem_info/main.c \
	tools/oshmem_info/report.c \
	tools/oshmem_info/tune.c tools/oshmem_info/tune.h \
	tools/oshmem_info/tune_best.c tools/oshmem_info/tune_options.c \
	tools/oshmem_info/tune_pe.c tools/oshmem_info/tune_plan.c \
	tools/oshmem_info/tune_run.c tools/oshmem_info/tune_run.h \
	tools/oshmem_info/tune_table.c
oshmem_info_CPPFLAGS = $(AM_CPPFLAGS) \
	-DINFO_PREFIX='"$(prefix)"' -DINFO_BINDIR='"$(bindir)"' \
	-DINFO_LIBDIR='"$(libdir)"' -DINFO_INCLUDEDIR='"$(includedir)"' \
	-DINFO_MANDIR='"$(mandir)"'
oshmem_info_CFLAGS = $(AM_CFLAGS) $(PMIX_CFLAGS)
# From the library: the parser of the environment, and the transports; from oshrun: the
# parser of lists of hosts.
oshmem_info_LDADD  = tools/oshrun/liboshrun.a libpgas.la $(PMIX_LIBS) $(NETTLE_LIBS) -lpthread -lm

include tools/oshprof/local.mk

# Manual pages: our Markdown to man, by awk alone.
GEN_MAN = $(top_srcdir)/tools/gen-man
make_man = $(AM_V_GEN)$(MKDIR_P) $(@D) && \
	sh $(GEN_MAN) $(PACKAGE_VERSION) $(srcdir)/$@.md >$@.tmp && mv -f $@.tmp $@

TOOL_PAGES   = docs/man/oshcc.1 docs/man/oshmem_info.1 docs/man/oshprof.1 docs/man/oshrun.1
OSHCC_ALIAS  = docs/man/oshc++.1 docs/man/oshcxx.1 docs/man/oshCC.1
man_MANS    += $(TOOL_PAGES) $(OSHCC_ALIAS)
CLEANFILES  += $(TOOL_PAGES) $(OSHCC_ALIAS)
EXTRA_DIST  += $(TOOL_PAGES:=.md)

docs/man/oshcc.1: $(top_srcdir)/docs/man/oshcc.1.md $(GEN_MAN)
	$(make_man)
docs/man/oshmem_info.1: $(top_srcdir)/docs/man/oshmem_info.1.md $(GEN_MAN)
	$(make_man)
docs/man/oshprof.1: $(top_srcdir)/docs/man/oshprof.1.md $(GEN_MAN)
	$(make_man)
docs/man/oshrun.1: $(top_srcdir)/docs/man/oshrun.1.md $(GEN_MAN)
	$(make_man)
$(OSHCC_ALIAS): docs/man/oshcc.1
	$(AM_V_GEN)echo '.so man1/oshcc.1' >$@
