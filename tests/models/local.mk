# SPDX-License-Identifier: BSD-3-Clause
# tests/models/local.mk - Spin models: README.md.
TESTS += tests/models/models.sh
EXTRA_DIST += tests/models/models.sh tests/models/README.md \
	tests/models/adaptive.pml tests/models/agree.pml tests/models/arrival.pml \
	tests/models/c11.pml tests/models/combiner.pml tests/models/commit.pml \
	tests/models/drained.pml tests/models/eager.pml tests/models/forwarder.pml tests/models/litmus.pml tests/models/mailbox.pml \
	tests/models/mcs.pml tests/models/mpsc.pml \
	tests/models/private.pml tests/models/progress.pml tests/models/regions.pml \
	tests/models/ring.pml tests/models/serve.pml tests/models/shrink.pml \
	tests/models/sleep.pml tests/models/spsc.pml tests/models/tail.pml tests/models/ticket.pml
