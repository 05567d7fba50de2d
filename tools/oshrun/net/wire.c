/* SPDX-License-Identifier: BSD-3-Clause */
/* wire.c - see wire.h. */
#include "config.h"

#include "tools/oshrun/net/wire.h"
