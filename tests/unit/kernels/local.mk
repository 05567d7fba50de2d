# SPDX-License-Identifier: BSD-3-Clause
# tests/unit/kernels/local.mk - the reduction kernels on processors that are not here.  On this
# one tests/unit/op_test runs the same checks.
TESTS      += tests/unit/kernels/sve.sh
EXTRA_DIST += tests/unit/kernels/sve.sh tests/unit/kernels/sve.c
