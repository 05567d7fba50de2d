/* SPDX-License-Identifier: BSD-3-Clause */
/* dial.c - see door.h. */
#include "config.h"

#include "tools/oshrun/net/door.h"
