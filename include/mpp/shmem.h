/* SPDX-License-Identifier: BSD-3-Clause */
/* mpp/shmem.h - the historical place of shmem.h (deprecated since OpenSHMEM 1.1). */
#include <shmem.h>
