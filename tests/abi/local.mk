# SPDX-License-Identifier: BSD-3-Clause
# What the library exports and what its headers say, compared with the specification.
# All are written against api-1.6.txt, and not against our tables.
TESTS += tests/abi/names.sh tests/abi/prototypes.sh tests/abi/headers.sh \
	tests/abi/generics.sh tests/abi/calls.sh
EXTRA_DIST += tests/abi/names.sh tests/abi/prototypes.sh tests/abi/headers.sh \
	tests/abi/generics.sh tests/abi/calls.sh tests/abi/lists.sh \
	tests/abi/api-1.6.txt tests/abi/extract-api.awk \
	tests/abi/calls.awk tests/abi/calls.c \
	tests/abi/generics.awk tests/abi/generics.c
