# SPDX-License-Identifier: BSD-3-Clause
# tests/models/local.mk - Spin models of the failure protocols, locks and tail queues.
TESTS += tests/models/models.sh
EXTRA_DIST += tests/models/models.sh tests/models/adaptive.pml tests/models/ring.pml tests/models/agree.pml \
	tests/models/shrink.pml tests/models/commit.pml tests/models/mcs.pml tests/models/tail.pml
