/* SPDX-License-Identifier: BSD-3-Clause */
/* nodes.c - see nodes.h. */
#include "config.h"

#include "tools/oshrun/nodes.h"
