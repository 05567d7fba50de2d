# SPDX-License-Identifier: BSD-3-Clause
# tests/unit/kernels/local.mk - the reduction, pack and matching kernels on processors that are not here.  On this
# one tests/unit/op_test, pack_kernels_test and match_test run the same checks.
TESTS      += tests/unit/kernels/sve.sh
EXTRA_DIST += tests/unit/kernels/sve.sh tests/unit/kernels/sve.c tests/unit/kernels/sve_match.c tests/unit/kernels/sve_pack.c
