/* SPDX-License-Identifier: BSD-3-Clause */
/* pack.c - see pack.h. */
#include "config.h"

#include "tools/oshrun/net/pack.h"
