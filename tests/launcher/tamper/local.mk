# SPDX-License-Identifier: BSD-3-Clause
# tests/launcher/tamper/local.mk - each frame of the connections of a job is changed.
check_PROGRAMS += tests/launcher/tamper/proxy tests/launcher/tamper/job
tests_launcher_tamper_proxy_SOURCES = tests/launcher/tamper/proxy.c tests/launcher/tamper/frame.c \
	tests/launcher/tamper/proxy.h
tests_launcher_tamper_proxy_LDADD =
TESTS      += tests/launcher/tamper/tamper.sh
EXTRA_DIST += tests/launcher/tamper/tamper.sh
