/* SPDX-License-Identifier: BSD-3-Clause */
/* route.c - see route.h. */
#include "config.h"

#include "tools/oshrun/net/wire.h"
