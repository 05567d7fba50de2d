/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * generics.c - calls of the C11 generic names in addition to those for each type, which
 * generics.awk generates: arrays, null pointers, mixed argument types, names that are
 * both a generic and a C function.  A line T(...) must compile, D(...) too unless
 * SHMEM_NO_DEPRECATED is defined, and F(...) must not compile.
 */
#include <shmem.h>

/* clang-format off */
#define T(call) call;
#define F(call) call;
#ifdef SHMEM_NO_DEPRECATED
#define D(call)
#else
#define D(call) call;
#endif

struct point {
    int x, y;
};

extern shmem_ctx_t ctx;
extern shmem_team_t team;
extern float *f;
extern double *d;
extern long double *ld;
extern char *c;
extern signed char *sc;
extern short *s;
extern int *i;
extern long *l, array[4];
extern long long *ll;
extern unsigned char *uc;
extern unsigned short *us;
extern unsigned *u;
extern unsigned long *ul;
extern unsigned long long *ull;
extern int8_t *i8;
extern uint64_t *u64;
extern size_t *z;
extern ptrdiff_t *p;
extern const long *cl;
extern void *v;
extern struct point *pt;
extern double _Complex *cd;

void rma(void);
void amo(void);
void sync(void);
void refused(void);

void rma(void)
{
T(shmem_put(l, cl, 1, 0))
T(shmem_put(array, l, 4, 0))
T(shmem_put(array + 1, array, 2, 0))
T(shmem_put(&array[1], ((const long[]){1, 2}), 2, 0))
T(shmem_put(SHMEM_CTX_DEFAULT, d, d, 1, 0))
T(shmem_put(f, NULL, 0, 0))
T(shmem_p(l, 3, 0))
T(shmem_p(ctx, d, 2.0f, 0))
T(*d = shmem_g(ctx, d, 0) + shmem_g(cl, 0))
T(shmem_put_signal(l, cl, 1, u64, 1, SHMEM_SIGNAL_SET, 0))
T(shmem_signal_set(u64, 1, 0))
T(shmem_signal_add(u64, 1, 0))
T(shmem_signal_set(ctx, u64, 1, 0))
T(shmem_signal_add(ctx, u64, 1, 0))
}

void amo(void)
{
T(*l = shmem_atomic_fetch(ctx, cl, 0))
T(shmem_atomic_set(d, 1, 0))
T(*l = shmem_atomic_compare_swap(l, 0, 1, 0))
T(shmem_atomic_fetch_add_nbi(l, array, 1, 0))
D(*l = shmem_fetch(cl, 0))
D(*l = shmem_cswap(l, 0, 1, 0) + shmem_swap(l, 2, 0))
D(shmem_add(i, shmem_finc(i, 0), 0))
}

void sync(void)
{
T(*i = shmem_sync(team))
T(*i = shmem_sync(SHMEM_TEAM_WORLD))
D(shmem_sync(0, 1, 2, l))
D(shmem_sync(*i, 0, *i, array))
D(shmem_barrier(0, 0, 1, l))
D(shmem_wait(l, 0))
D(shmem_int_wait(i, 0))
T(shmem_wait_until(l, SHMEM_CMP_EQ, 1))
T(shmem_wait_until(array, SHMEM_CMP_EQ, *i))
D(shmem_wait_until(s, SHMEM_CMP_EQ, 1))
D(*i = shmem_test(us, SHMEM_CMP_EQ, 1))
D(void (*wait)(long *, int, long) = shmem_wait_until; wait(l, SHMEM_CMP_EQ, 1))
T(*z = shmem_wait_until_some(l, 1, z, NULL, SHMEM_CMP_EQ, 1))
T(*i = shmem_test_all_vector(l, 4, NULL, SHMEM_CMP_EQ, array))
T(*i = shmem_sum_reduce(SHMEM_TEAM_WORLD, array, cl, 1))
T(*i = shmem_sum_exscan(SHMEM_TEAM_SHARED, cd, cd, 1))
T(*i = shmem_alltoalls(team, l, array, 1, 1, 1))
}

void refused(void)
{
F(shmem_put(l, ctx, cl, 1, 0))
F(shmem_put(cl, l, 1, 0))
F(shmem_p(*l, 3, 0))
F(shmem_p(ctx, *pt, *pt, 0))
F(shmem_p(ctx, ctx, l, 3, 0))
F(shmem_g(pt, 0))
F(shmem_atomic_add(p == 0 ? f : f, 1, 0))
F(shmem_atomic_fetch_add(cl, 1, 0))
F(shmem_add(ctx, l, 1, 0))
F(shmem_fetch(u, 0))
F(shmem_sync(l))
F(shmem_sync(team, 0, 1, l))
F(shmem_wait_until(cl, SHMEM_CMP_EQ, 1))
F(shmem_wait_until(ctx, l, SHMEM_CMP_EQ, 1))
F(shmem_max_reduce(l, l, 1))
F(shmem_broadcast(team, v, v, 1, 0))
}
