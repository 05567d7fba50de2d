/* SPDX-License-Identifier: BSD-3-Clause */
/* hosts.c - see hosts.h. */
#include "config.h"

#include "tools/oshrun/map/hosts.h"
