/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call_site.h - where the program calls the library: for error messages, and for the
 * arrival profile.
 *
 * A call site is described by the file that is mapped at its address, and the address in
 * that file: this is the same on all PEs, and addr2line finds function and line from it.
 * The library does not run addr2line, because the process is ending: oshrun replaces the
 * text of call_site_text by "; called by function (file:line)", once for all PEs.
 * Uses: the dynamic linker, the unwinder.  Used by: log, profile, tools/oshrun.
 */
#ifndef PGAS_CORE_CALL_SITE_H
#define PGAS_CORE_CALL_SITE_H

#include <stddef.h>
#include <stdint.h>

/* The text: FROM prog+0x11c9 TOOL /home/me/prog 0x11c9 END. */
#define CALL_SITE_FROM "; called from "
#define CALL_SITE_TOOL " (addr2line -f -e "
#define CALL_SITE_END  ")"

enum { CALL_SITE_TEXT_MAX = 1024 };

/* The path of the file that contains the call before a return address, and the address
 * of the call in that file.  If size is too small: the end of the path; "": unknown. */
uint64_t call_site_locate(const void *return_address, char *module, size_t size);

/* The return address of the call by which this thread entered the library; NULL if it
 * was not called by the program.  Functions shmem_* and pshmem_* outside the library are
 * wrappers, for example of a profiling tool, and are skipped.  Walks the stack. */
const void *call_site_find(void);

/* Describes call_site_find() as above; "" without a call site.  Returns text. */
const char *call_site_text(char text[CALL_SITE_TEXT_MAX]);

#endif
