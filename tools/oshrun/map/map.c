/* SPDX-License-Identifier: BSD-3-Clause */
/* map.c - see map.h. */
#include "config.h"

#include "tools/oshrun/map/map.h"
