/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pack_count.c - executes one copy of each pack kernel step by step and prints the
 * instructions that it executed.
 *
 *   bench/pack_count [-t] BYTES:BLOCK:STRIDE
 *
 * A line for each direction, kernel and address: pack or unpack, kernel, address in the
 * file of this program, times executed.  Instructions of other files (memcpy of the C
 * library) have the address `other`.  A kernel with a plan has made it before.  The
 * script pack-count looks the instructions up.  -t: an emulator traces the program; it
 * copies once with each kernel, between count_begin and count_end, and prints a line for
 * each, with the direction and the kernel.  Uses: pgas/datatype, ptrace (Linux).
 */
#include "config.h"

#include <elf.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pgas/datatype/pack/pack_choice.h"

extern const char __ehdr_start[], etext[]; /* of the linker */

struct steps {
    size_t size;    /* bytes of the text */
    unsigned *runs; /* by offset */
    unsigned others;
};

/* Not inlined, and with an effect: their addresses are the limits of what is counted. */
__attribute__((noinline)) static void count_begin(void)
{
    __asm__ __volatile__("nop" ::: "memory");
}

__attribute__((noinline)) static void count_end(void)
{
    __asm__ __volatile__("nop; nop" ::: "memory");
}

static _Noreturn void count_fail(const char *what)
{
    perror(what);
    exit(1);
}

#if defined(__x86_64__)
static uintptr_t count_address(const struct user_regs_struct *r)
{
    return (uintptr_t)r->rip;
}
#else
static uintptr_t count_address(const struct user_regs_struct *r)
{
    return (uintptr_t)r->pc;
}
#endif

/* The address of the instruction that the stopped child executes next */
static uintptr_t count_position(pid_t child)
{
    struct user_regs_struct regs;
    struct iovec iov = {&regs, sizeof regs};

    if (ptrace(PTRACE_GETREGSET, child, NT_PRSTATUS, &iov) != 0)
        count_fail("PTRACE_GETREGSET");
    return count_address(&regs);
}

/* One instruction of the child; false: it has ended. */
static bool count_step(pid_t child)
{
    int status;

    if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0 ||
        waitpid(child, &status, 0) != child)
        count_fail("PTRACE_SINGLESTEP");
    return WIFSTOPPED(status);
}

static void count_copy(enum pack_kernel k, const struct vector_copy *v)
{
    pack_kernel_run(k, v);
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(1);
    raise(SIGSTOP);
    count_begin();
    pack_kernel_run(k, v);
    count_end();
    _exit(0);
}

/* A copy for the emulator's trace */
static void count_mark(const char *direction, enum pack_kernel k,
                       const struct vector_copy *v)
{
    pack_kernel_run(k, v);
    count_begin();
    pack_kernel_run(k, v);
    count_end();
    printf("%s %s\n", direction, pack_kernel_name(k));
}

static void count_kernel(enum pack_kernel k, const struct vector_copy *v,
                         struct steps *steps)
{
    const uintptr_t begin = (uintptr_t)count_begin, end = (uintptr_t)count_end;
    pid_t child = fork();
    bool counts = false;

    if (child == 0)
        count_copy(k, v);
    if (child < 0 || waitpid(child, NULL, 0) != child)
        count_fail("fork");
    memset(steps->runs, 0, steps->size * sizeof *steps->runs);
    steps->others = 0;
    while (count_step(child)) {
        uintptr_t at = count_position(child), offset = at - (uintptr_t)__ehdr_start;
        counts = (counts || at == begin) && at != end;
        if (counts && offset < steps->size)
            steps->runs[offset]++;
        else if (counts)
            steps->others++;
    }
}

static void count_print(const char *direction, enum pack_kernel k,
                        const struct steps *steps)
{
    const ElfW(Ehdr) *file = (const void *)__ehdr_start;
    const uintptr_t base = file->e_type == ET_EXEC ? (uintptr_t)__ehdr_start : 0;
    const char *name = pack_kernel_name(k);

    for (size_t at = 0; at < steps->size; at++)
        if (steps->runs[at] > 0)
            printf("%s %s %zx %u\n", direction, name, base + at, steps->runs[at]);
    if (steps->others > 0)
        printf("%s %s other %u\n", direction, name, steps->others);
}

int main(int argc, char **argv)
{
    const bool traced = argc > 2 && strcmp(argv[1], "-t") == 0;
    const char *text = argv[traced ? 2 : 1];
    size_t bytes, block, stride;
    struct steps steps = {(size_t)(etext - __ehdr_start), NULL, 0};

    if (argc != (traced ? 3 : 2) ||
        sscanf(text, "%zu:%zu:%zu", &bytes, &block, &stride) != 3 || block == 0 ||
        stride < block || bytes < block) {
        fprintf(stderr, "usage: %s [-t] BYTES:BLOCK:STRIDE\n", argv[0]);
        return 2;
    }
    char *packed = aligned_alloc(4096, (bytes / 4096 + 1) * 4096);
    char *strided = aligned_alloc(4096, (bytes / block * stride / 4096 + 1) * 4096);
    steps.runs = calloc(steps.size, sizeof *steps.runs);
    if (packed == NULL || strided == NULL || steps.runs == NULL)
        count_fail("memory");
    memset(strided, 1, bytes / block * stride);
    memset(packed, 1, bytes);
    pack_choice_init_default();
    const struct vector_copy copy[] = {
        {packed, strided, (ptrdiff_t)block, (ptrdiff_t)stride, block, bytes / block},
        {strided, packed, (ptrdiff_t)stride, (ptrdiff_t)block, block, bytes / block}};
    for (int unpack = 0; unpack < 2; unpack++)
        for (enum pack_kernel k = 0; k < PACK_KERNELS; k++) {
            const char *direction = unpack ? "unpack" : "pack";
            if (!pack_kernel_can(k, &copy[unpack]))
                continue;
            if (traced) {
                count_mark(direction, k, &copy[unpack]);
                continue;
            }
            count_kernel(k, &copy[unpack], &steps);
            count_print(direction, k, &steps);
        }
    return 0;
}
