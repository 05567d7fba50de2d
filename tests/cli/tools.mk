# SPDX-License-Identifier: BSD-3-Clause
# tests/cli/tools.mk - tests of oshcc, oshmem_info and make install.
TESTS      += tests/cli/env.sh tests/cli/oshcc.sh tests/cli/oshmem_info.sh tests/cli/users.sh tests/cli/coll-table.sh \
	tests/cli/install.sh
EXTRA_DIST += tests/cli/users.sh tests/cli/env.sh tests/cli/oshcc.sh tests/cli/oshmem_info.sh tests/cli/install.sh \
	tests/cli/coll-table.sh \
	tests/cli/json.awk
