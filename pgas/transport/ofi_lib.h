/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ofi_lib.h - libfabric, loaded when it is needed.
 *
 * It is not linked: a job of one node would pay for its start (300 ms on Debian 12: two
 * libraries that it is linked with calibrate a clock for 100 ms each, then it reads all
 * of /proc/kallsyms; no setting prevents any of that) and would get the signal handlers
 * of those libraries.  Once loaded it stays, because not all of them can be unloaded.
 * Uses: nothing of ours.  Used by: the ofi files.
 */
#ifndef PGAS_TRANSPORT_OFI_LIB_H
#define PGAS_TRANSPORT_OFI_LIB_H

#include <signal.h>
#include <stddef.h>

#include <rdma/fabric.h>

/* The exported functions that are used: X(name without fi_).  The others are inline in
 * libfabric's headers, over tables of functions in its objects. */
#define OFI_FUNCTIONS(X)                                                                 \
    X(getinfo) X(freeinfo) X(dupinfo) X(fabric) X(strerror) X(version)

/* Valid once ofi_load has returned 0. */
extern struct ofi_lib {
#define X(name) __typeof__(fi_##name) *name;
    OFI_FUNCTIONS(X)
#undef X
} ofi_lib;

/* The oldest interface that we can do with. */
#define OFI_VERSION FI_VERSION(1, 14)

/* What the library and its providers find, and may change, while a net is opened. */
struct ofi_surroundings {
    struct sigaction action[NSIG];
};

/* Set what makes providers small and quick, if the user has not set it; remember signal
 * dispositions.  Then load, and open what is to be opened; then put all back. */
void ofi_surroundings_enter(struct ofi_surroundings *now);
void ofi_surroundings_leave(const struct ofi_surroundings *before);

/* Load it.  0; or -ELIBACC and a sentence in why.  One thread at a time. */
int ofi_load(char *why, size_t room);

/* The errno value of what libfabric calls an error (a positive number). */
int ofi_errno(int error);

#endif
