# SPDX-License-Identifier: BSD-3-Clause
# tests/launcher/cli/tools.mk - tests of oshcc, oshmem_info and make install.
TESTS      += tests/launcher/cli/env.sh tests/launcher/cli/oshcc.sh tests/launcher/cli/oshmem_info.sh tests/launcher/cli/users.sh tests/launcher/cli/coll-table.sh \
	tests/launcher/cli/install.sh
EXTRA_DIST += tests/launcher/cli/users.sh tests/launcher/cli/env.sh tests/launcher/cli/oshcc.sh tests/launcher/cli/oshmem_info.sh tests/launcher/cli/install.sh \
	tests/launcher/cli/coll-table.sh \
	tests/launcher/cli/json.awk
