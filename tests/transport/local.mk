# SPDX-License-Identifier: BSD-3-Clause
# tests/transport/local.mk - the conformance suite of the transports, run on each.
check_PROGRAMS += tests/transport/suite
tests_transport_suite_SOURCES = tests/transport/suite.c tests/transport/suite.h \
	tests/transport/wait.c tests/transport/ops.c tests/transport/pe.c \
	tests/transport/sim_pe.c tests/transport/sim_pe.h \
	tests/transport/data.c tests/transport/blocks.c tests/transport/blocks.h \
	tests/transport/order.c tests/transport/signal.c \
	tests/transport/done.c \
	tests/transport/amo.c tests/transport/race.c tests/transport/ctx.c \
	tests/transport/error.c tests/transport/lost.c tests/transport/stopped.c \
	tests/transport/many.c
tests_transport_suite_LDADD = .libs/libsim.a $(libpgas)
transport_suite = tests/transport/suite$(EXEEXT)
$(transport_suite): AM_LDFLAGS += -rdynamic

# Malformed messages and refused connections: two PEs in one process.  fake_ofi is libfabric
# under another version number, for ofi_order.sh.
transport_pair = tests/transport/pair.c tests/transport/pair.h
if HAVE_OFI
check_PROGRAMS += tests/transport/ofi_wire tests/transport/ofi_connect \
	tests/transport/ofi_silent
check_LTLIBRARIES += tests/transport/fake_ofi.la
TESTS += tests/transport/ofi_wire tests/transport/ofi_connect tests/transport/ofi_silent
endif
tests_transport_ofi_wire_SOURCES = tests/transport/ofi_wire.c $(transport_pair)
tests_transport_ofi_wire_LDADD = $(libpgas)
tests_transport_ofi_connect_SOURCES = tests/transport/ofi_connect.c $(transport_pair)
tests_transport_ofi_connect_LDADD = $(libpgas)
tests_transport_ofi_silent_SOURCES = tests/transport/ofi_silent.c $(transport_pair)
tests_transport_ofi_silent_LDADD = $(libpgas)
tests_transport_fake_ofi_la_SOURCES = tests/transport/fake_ofi.c
tests_transport_fake_ofi_la_CPPFLAGS = $(AM_CPPFLAGS) $(OFI_CFLAGS)
tests_transport_fake_ofi_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_transport_fake_ofi_la_LIBADD = -ldl
transport_tcp_raw = tests/transport/tcp_raw.c tests/transport/tcp_raw.h $(transport_pair)
tcp_tests = tests/transport/tcp_wire tests/transport/tcp_handshake \
	tests/transport/tcp_listen tests/transport/tcp_space
check_PROGRAMS += $(tcp_tests) tests/transport/whole
TESTS += $(tcp_tests) tests/transport/whole
tests_transport_tcp_listen_SOURCES = tests/transport/tcp_listen.c $(transport_pair)
tests_transport_tcp_listen_LDADD = $(libpgas)
tests_transport_tcp_handshake_SOURCES = tests/transport/tcp_handshake.c \
	tests/transport/tcp_layout.h $(transport_tcp_raw)
tests_transport_tcp_handshake_LDADD = $(libpgas)
tests_transport_tcp_wire_SOURCES = tests/transport/tcp_wire.c $(transport_tcp_raw)
tests_transport_tcp_wire_LDADD = $(libpgas)
tests_transport_tcp_space_SOURCES = tests/transport/tcp_space.c $(transport_pair)
tests_transport_tcp_space_LDADD = $(libpgas)
tests_transport_whole_SOURCES = tests/transport/whole.c $(transport_pair)
tests_transport_whole_LDADD = $(libpgas)
if HAVE_UCX
check_PROGRAMS += tests/transport/ucx_wire
TESTS += tests/transport/ucx_wire
endif
tests_transport_ucx_wire_SOURCES = tests/transport/ucx_wire.c $(transport_pair)
tests_transport_ucx_wire_CPPFLAGS = $(AM_CPPFLAGS) $(UCX_CFLAGS)
tests_transport_ucx_wire_LDADD = $(libpgas)

transport_scripts = tests/transport/shm.sh tests/transport/ofi.sh tests/transport/ucx.sh \
	tests/transport/tcp.sh \
	tests/transport/hook.sh tests/transport/sim.sh tests/transport/ofi_order.sh
transport_logs = $(transport_scripts:.sh=.log)
$(transport_logs): $(transport_suite) $(check_LTLIBRARIES)
TESTS += $(transport_scripts)
EXTRA_DIST += tests/transport/lib.sh $(transport_scripts)
