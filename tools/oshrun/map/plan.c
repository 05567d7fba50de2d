/* SPDX-License-Identifier: BSD-3-Clause */
/* plan.c - see plan.h. */
#include "config.h"

#include "tools/oshrun/map/plan.h"
