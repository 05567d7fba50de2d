# SPDX-License-Identifier: BSD-3-Clause
# tests/transport/local.mk - the conformance suite of the transports, run on each.
check_PROGRAMS += tests/transport/suite
tests_transport_suite_SOURCES = tests/transport/suite.c tests/transport/suite.h \
	tests/transport/wait.c tests/transport/ops.c tests/transport/pe.c \
	tests/transport/sim_pe.c tests/transport/sim_pe.h \
	tests/transport/data.c tests/transport/order.c tests/transport/signal.c \
	tests/transport/done.c \
	tests/transport/amo.c tests/transport/race.c tests/transport/ctx.c \
	tests/transport/error.c tests/transport/stopped.c tests/transport/many.c
tests_transport_suite_LDADD = libsim.la libpgas.la $(PMIX_LIBS) -lpthread
tests_transport_suite_LDFLAGS = $(AM_LDFLAGS) -export-dynamic -no-install

# Malformed messages and refused connections: two PEs in one process.
if HAVE_OFI
check_PROGRAMS += tests/transport/ofi_wire tests/transport/ofi_connect
TESTS += tests/transport/ofi_wire tests/transport/ofi_connect
endif
tests_transport_ofi_wire_SOURCES = tests/transport/ofi_wire.c tests/transport/pair.c \
	tests/transport/pair.h
tests_transport_ofi_wire_LDADD = libpgas.la $(PMIX_LIBS) -lpthread
tests_transport_ofi_wire_LDFLAGS = $(AM_LDFLAGS) -no-install# libfabric under another version number, for ofi_order.sh
if HAVE_OFI
check_LTLIBRARIES += tests/transport/fake_ofi.la
endif
tests_transport_fake_ofi_la_SOURCES = tests/transport/fake_ofi.c
tests_transport_fake_ofi_la_CPPFLAGS = $(AM_CPPFLAGS) $(OFI_CFLAGS)
tests_transport_fake_ofi_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_transport_fake_ofi_la_LIBADD = -ldl
tests/transport/ofi_order.log: tests/transport/suite$(EXEEXT) tests/transport/fake_ofi.la
tests_transport_ofi_connect_SOURCES = tests/transport/ofi_connect.c \
	tests/transport/pair.c tests/transport/pair.h
tests_transport_ofi_connect_LDADD = libpgas.la $(PMIX_LIBS) -lpthread
tests_transport_ofi_connect_LDFLAGS = $(AM_LDFLAGS) -no-install
if HAVE_UCX
check_PROGRAMS += tests/transport/ucx_wire
TESTS += tests/transport/ucx_wire
endif
tests_transport_ucx_wire_SOURCES = tests/transport/ucx_wire.c tests/transport/pair.c \
	tests/transport/pair.h
tests_transport_ucx_wire_CPPFLAGS = $(AM_CPPFLAGS) $(UCX_CFLAGS)
tests_transport_ucx_wire_LDADD = libpgas.la $(PMIX_LIBS) -lpthread
tests_transport_ucx_wire_LDFLAGS = $(AM_LDFLAGS) -no-install

transport_scripts = tests/transport/shm.sh tests/transport/ofi.sh tests/transport/ucx.sh \
	tests/transport/hook.sh tests/transport/sim.sh tests/transport/ofi_order.sh
tests/transport/shm.log: tests/transport/suite$(EXEEXT)
tests/transport/ofi.log: tests/transport/suite$(EXEEXT)
tests/transport/ucx.log: tests/transport/suite$(EXEEXT)
tests/transport/hook.log: tests/transport/suite$(EXEEXT)
tests/transport/sim.log: tests/transport/suite$(EXEEXT)
TESTS += $(transport_scripts)
EXTRA_DIST += tests/transport/lib.sh $(transport_scripts)
