# SPDX-License-Identifier: BSD-3-Clause
# tests/kernels/local.mk - the reduction kernels on processors that are not here.  On this
# one tests/unit/op_test runs the same checks.
TESTS      += tests/kernels/sve.sh
EXTRA_DIST += tests/kernels/sve.sh tests/kernels/sve.c
