# SPDX-License-Identifier: BSD-3-Clause
# contrib/local.mk - what makes other build systems find us, and the papers of the project.
pkgconfig_DATA = contrib/openshmem.pc
cmakedir       = $(libdir)/cmake/OpenSHMEM
cmake_DATA     = contrib/OpenSHMEMConfig.cmake contrib/OpenSHMEMConfigVersion.cmake
CLEANFILES    += $(pkgconfig_DATA) $(cmake_DATA)
EXTRA_DIST    += contrib/openshmem.pc.in contrib/OpenSHMEMConfig.cmake.in \
	contrib/OpenSHMEMConfigVersion.cmake.in examples/cmake/CMakeLists.txt \
	LICENSE README.md CONTRIBUTING.md CHANGES.md SECURITY.md docs/ARCHITECTURE.md \
	docs/BENCHMARKS.md docs/LAUNCHERS.md docs/PORTING.md docs/TRANSPORTS.md docs/TROUBLESHOOTING.md \
	docs/FAILURES.md docs/SCALING.md docs/TUNING.md docs/TUTORIAL.md \
	pgas/core/README.md pgas/coll/README.md pgas/ft/README.md pgas/ft/protocol/README.md \
	pgas/rma/README.md pgas/datatype/README.md pgas/threads/README.md tools/oshrun/README.md \
	quickstart tools/stages.sh tools/show-tail.sh tools/run-tests tools/unsteady.sh tools/clang-check tools/plan.awk \
	tools/archive-complete \
	.clang-format .editorconfig .ci/run

# `check` is a target of make: as a part of EXTRA_DIST it would run all tests.
dist-hook:
	cp -p $(srcdir)/check $(distdir)/check

# A directory below the prefix is written relative to the place of the file itself.
CONTRIB_EDIT = prefix='$(prefix)'; \
	below() { case $$1 in "$$prefix"/*) echo "$$2$${1\#"$$prefix"}" ;; *) echo "$$1" ;; esac; }; \
	up=`echo '$(cmakedir)' | $(SED) -e "s|^$$prefix/||" -e 's|[^/][^/]*|..|g'`; \
	mkdir -p contrib; \
	$(SED) -e "s|@prefix[@]|$$prefix|" -e "s|@exec_prefix[@]|$(exec_prefix)|" \
	    -e "s|@PACKAGE_VERSION[@]|$(PACKAGE_VERSION)|" \
	    -e "s|@SPEC_VERSION[@]|1.6.0|" \
	    -e "s|@cmake_up[@]|$$up|" \
	    -e "s|@cmake_includedir[@]|`below '$(includedir)' '$${_openshmem_prefix}'`|" \
	    -e "s|@cmake_libdir[@]|`below '$(libdir)' '$${_openshmem_prefix}'`|" \
	    -e "s|@cmake_bindir[@]|`below '$(bindir)' '$${_openshmem_prefix}'`|" \
	    -e "s|@libdir[@]|`below '$(libdir)' '$${prefix}'`|" \
	    -e "s|@includedir[@]|`below '$(includedir)' '$${prefix}'`|"

contrib/openshmem.pc: $(top_srcdir)/contrib/openshmem.pc.in Makefile
	$(AM_V_GEN)$(CONTRIB_EDIT) $(srcdir)/$@.in >$@
contrib/OpenSHMEMConfig.cmake: $(top_srcdir)/contrib/OpenSHMEMConfig.cmake.in Makefile
	$(AM_V_GEN)$(CONTRIB_EDIT) $(srcdir)/$@.in >$@
contrib/OpenSHMEMConfigVersion.cmake: \
		$(top_srcdir)/contrib/OpenSHMEMConfigVersion.cmake.in Makefile
	$(AM_V_GEN)$(CONTRIB_EDIT) $(srcdir)/$@.in >$@
