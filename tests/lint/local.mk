# SPDX-License-Identifier: BSD-3-Clause
# tests/lint/local.mk - style checks, and tests of these checks and of ./check.
TESTS      += tests/lint/time.sh tests/lint/lint.sh tests/lint/selftest.sh tests/lint/interrupt.sh tests/lint/results.sh tests/lint/tidy.sh
EXTRA_DIST += tests/lint/time.sh tests/lint/time.awk tests/lint/time.txt tests/lint/lint.sh tests/lint/selftest.sh tests/lint/interrupt.sh tests/lint/results.sh tests/lint/tidy.sh \
	tests/lint/c.awk \
	tests/lint/layers.txt tests/lint/waits.txt

lint:
	$(SHELL) $(srcdir)/tests/lint/lint.sh $(srcdir)
.PHONY: lint
