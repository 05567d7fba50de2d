# SPDX-License-Identifier: BSD-3-Clause
# What the library exports and what its headers say, compared with the specification.
# All are written against api-1.6.txt, and not against our tables.
TESTS += tests/api/abi/names.sh tests/api/abi/prototypes.sh tests/api/abi/headers.sh \
	tests/api/abi/generics.sh tests/api/abi/calls.sh
EXTRA_DIST += tests/api/abi/names.sh tests/api/abi/prototypes.sh tests/api/abi/headers.sh \
	tests/api/abi/generics.sh tests/api/abi/calls.sh tests/api/abi/lists.sh \
	tests/api/abi/api-1.6.txt tests/api/abi/extract-api.awk \
	tests/api/abi/calls.awk tests/api/abi/calls.c \
	tests/api/abi/generics.awk tests/api/abi/generics.c
