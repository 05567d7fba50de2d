# SPDX-License-Identifier: BSD-3-Clause
# tests/man/local.mk - the manual: a page for each name, pages without mistakes, which name
# what is checked, and examples that do what they say.
man_tests = tests/man/names.sh tests/man/lint.sh tests/man/install.sh \
	tests/man/errors.sh tests/man/examples.sh
TESTS      += $(man_tests)
EXTRA_DIST += $(man_tests) tests/man/examples.awk
