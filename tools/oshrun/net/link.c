/* SPDX-License-Identifier: BSD-3-Clause */
/* link.c - see link.h. */
#include "config.h"

#include "tools/oshrun/net/link.h"
