# SPDX-License-Identifier: BSD-3-Clause
# What the library exports and what its headers say.
TESTS += tests/abi/names.sh tests/abi/headers.sh
EXTRA_DIST += tests/abi/names.sh tests/abi/headers.sh tests/abi/generics.c
