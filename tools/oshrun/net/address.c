/* SPDX-License-Identifier: BSD-3-Clause */
/* address.c - see door.h. */
#include "config.h"

#include "tools/oshrun/net/door.h"
