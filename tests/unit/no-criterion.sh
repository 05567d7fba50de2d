#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# no-criterion.sh - stands for the unit tests where configure did not find Criterion.
echo "the unit tests need Criterion: apt-get install libcriterion-dev, configure again" >&2
exit 1
