# SPDX-License-Identifier: BSD-3-Clause
# tests/lint/local.mk - style checks, and tests of these checks and of ./check.
lint_scripts = \
	tests/lint/counters.sh \
	tests/lint/interrupt.sh \
	tests/lint/lint.sh \
	tests/lint/loops.sh \
	tests/lint/results.sh \
	tests/lint/security.sh \
	tests/lint/selftest.sh \
	tests/lint/stalls.sh \
	tests/lint/tidy.sh \
	tests/lint/time.sh
TESTS      += $(lint_scripts)
EXTRA_DIST += $(lint_scripts) \
	tests/lint/c.awk \
	tests/lint/counters.awk tests/lint/counters.txt \
	tests/lint/loops.awk tests/lint/loops.txt \
	tests/lint/time.awk tests/lint/time.txt \
	tests/lint/layers.txt tests/lint/stalls.txt tests/lint/waits.txt

lint:
	$(SHELL) $(srcdir)/tests/lint/lint.sh $(srcdir)
.PHONY: lint
