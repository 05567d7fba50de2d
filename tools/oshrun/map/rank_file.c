/* SPDX-License-Identifier: BSD-3-Clause */
/* rank_file.c - see map.h. */
#include "config.h"

#include "tools/oshrun/map/map.h"
