# SPDX-License-Identifier: BSD-3-Clause
# oshprof: reports from arrival profiles.
bin_PROGRAMS += oshprof
oshprof_SOURCES = \
	pgas/profile/profile_file.h \
	tools/oshprof/html.c tools/oshprof/join.c tools/oshprof/main.c \
	tools/oshprof/oshprof.h tools/oshprof/place.c tools/oshprof/sum.c \
	tools/oshprof/text.c
nodist_oshprof_SOURCES = tools/oshprof/page.c
oshprof_CFLAGS = $(AM_CFLAGS)
oshprof_LDADD  = -lm

# The page, as a C file.
EXTRA_DIST += tools/oshprof/page.html tools/gen-lines
CLEANFILES += tools/oshprof/page.c
tools/oshprof/page.c: $(top_srcdir)/tools/oshprof/page.html $(top_srcdir)/tools/gen-lines
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(AWK) -v name=profile_page \
	    -v header=tools/oshprof/oshprof.h -f $(top_srcdir)/tools/gen-lines \
	    $(top_srcdir)/tools/oshprof/page.html >$@.tmp && mv -f $@.tmp $@
