/* SPDX-License-Identifier: BSD-3-Clause */
/* gather.c - see gather.h. */
#include "config.h"

#include "tools/oshrun/net/gather.h"
