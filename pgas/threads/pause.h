/* SPDX-License-Identifier: BSD-3-Clause */
/* pause.h - the processor's spin-loop hint.  A leaf. */
#ifndef PGAS_THREADS_PAUSE_H
#define PGAS_THREADS_PAUSE_H

#if defined(__x86_64__)
static inline void cpu_pause(void)
{
    __builtin_ia32_pause();
}
#elif defined(__aarch64__)
static inline void cpu_pause(void)
{
    __asm__ volatile("isb" ::: "memory");
}
#else
static inline void cpu_pause(void) {}
#endif

#endif
