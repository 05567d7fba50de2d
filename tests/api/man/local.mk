# SPDX-License-Identifier: BSD-3-Clause
# tests/api/man/local.mk - the manual: a page for each name, valid markup, complete ERRORS
# sections and working examples.
man_tests = tests/api/man/names.sh tests/api/man/lint.sh tests/api/man/install.sh \
	tests/api/man/errors.sh tests/api/man/examples.sh
TESTS      += $(man_tests)
EXTRA_DIST += $(man_tests) tests/api/man/examples.awk
