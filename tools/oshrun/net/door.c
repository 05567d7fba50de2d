/* SPDX-License-Identifier: BSD-3-Clause */
/* door.c - see door.h. */
#include "config.h"

#include "tools/oshrun/net/door.h"
