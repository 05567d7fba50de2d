# SPDX-License-Identifier: BSD-3-Clause
# tests/api/abi/local.mk - the symbols and headers of the library, compared with the
# specification (api-1.6.txt), not with the tables of the library.
TESTS += tests/api/abi/names.sh tests/api/abi/prototypes.sh tests/api/abi/headers.sh \
	tests/api/abi/generics.sh tests/api/abi/calls.sh
EXTRA_DIST += tests/api/abi/names.sh tests/api/abi/prototypes.sh tests/api/abi/headers.sh \
	tests/api/abi/generics.sh tests/api/abi/calls.sh tests/api/abi/lists.sh \
	tests/api/abi/api-1.6.txt tests/api/abi/extract-api.awk \
	tests/api/abi/calls.awk tests/api/abi/calls.c \
	tests/api/abi/generics.awk tests/api/abi/generics.c
