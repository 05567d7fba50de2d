/* SPDX-License-Identifier: BSD-3-Clause */
/* mpp/shmemx.h - the historical place of shmemx.h (deprecated since OpenSHMEM 1.1). */
#include <shmemx.h>
