/* SPDX-License-Identifier: BSD-3-Clause */
/* generics.c - calls of the C11 generic names: T(...) must compile, F(...) must not.
 * headers.sh compiles it once without F lines, and once with each. */
#include <shmem.h>

/* clang-format off */
#define T(call) call;
#define F(call) call;

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
T(shmem_put(f, f, 1, 0))
T(shmem_put(d, d, 1, 0))
T(shmem_put(ld, ld, 1, 0))
T(shmem_put(c, c, 1, 0))
T(shmem_put(sc, sc, 1, 0))
T(shmem_put(s, s, 1, 0))
T(shmem_put(i, i, 1, 0))
T(shmem_put(l, cl, 1, 0))
T(shmem_put(ll, ll, 1, 0))
T(shmem_put(uc, uc, 1, 0))
T(shmem_put(us, us, 1, 0))
T(shmem_put(u, u, 1, 0))
T(shmem_put(ul, ul, 1, 0))
T(shmem_put(ull, ull, 1, 0))
T(shmem_put(i8, i8, 1, 0))
T(shmem_put(z, z, 1, 0))
T(shmem_put(p, p, 1, 0))
T(shmem_put(array, l, 4, 0))
T(shmem_put(ctx, l, l, 1, 0))
T(shmem_put(SHMEM_CTX_DEFAULT, d, d, 1, 0))
T(shmem_get(ctx, l, cl, 1, 0))
T(shmem_put_nbi(l, cl, 1, 0))
T(shmem_get_nbi(ctx, f, f, 1, 0))
T(shmem_p(l, 3, 0))
T(shmem_p(ctx, d, 2.0, 0))
T(*l = shmem_g(cl, 0))
T(*l = shmem_g(l, 0))
T(*d = shmem_g(ctx, d, 0))
T(shmem_put_signal(l, cl, 1, u64, 1, SHMEM_SIGNAL_SET, 0))
T(shmem_put_signal_nbi(ctx, l, cl, 1, u64, 1, SHMEM_SIGNAL_ADD, 0))
T(shmem_signal_set(u64, 1, 0))
T(shmem_signal_add(ctx, u64, 1, 0))
}

void amo(void)
{
T(*f = shmem_atomic_fetch(f, 0))
T(*l = shmem_atomic_fetch(ctx, cl, 0))
T(shmem_atomic_set(d, 1.0, 0))
T(*l = shmem_atomic_compare_swap(l, 0, 1, 0))
T(*f = shmem_atomic_swap(f, 1.0f, 0))
T(*z = shmem_atomic_fetch_add(z, 1, 0))
T(shmem_atomic_inc(ctx, i, 0))
T(shmem_atomic_add(ll, 1, 0))
T(shmem_atomic_and(i, 1, 0))
T(shmem_atomic_xor(l, 1, 0))
T(shmem_atomic_or(ctx, ull, 1, 0))
T(*u = shmem_atomic_fetch_or(u, 1, 0))
T(shmem_atomic_fetch_add_nbi(l, l, 1, 0))
}

void sync(void)
{
T(shmem_broadcast(team, f, f, 1, 0))
T(shmem_sum_reduce(team, cd, cd, 1))
T(shmem_max_reduce(SHMEM_TEAM_WORLD, uc, uc, 1))
T(shmem_min_reduce(team, ld, ld, 1))
T(shmem_wait_until(l, SHMEM_CMP_EQ, 1))
T(shmem_wait_until(s, SHMEM_CMP_EQ, 1))
T(*i = shmem_test(z, SHMEM_CMP_GT, 1))
}

void refused(void)
{
F(shmem_put(v, v, 1, 0))
F(shmem_put(pt, pt, 1, 0))
F(shmem_put(cd, cd, 1, 0))
F(shmem_put(ctx, pt, pt, 1, 0))
F(shmem_p(pt, *pt, 0))
F(shmem_atomic_add(f, 1.0f, 0))
F(shmem_atomic_fetch_add(d, 1.0, 0))
F(shmem_atomic_inc(s, 0))
F(shmem_atomic_compare_swap(f, 1.0f, 2.0f, 0))
F(shmem_atomic_and(d, 1, 0))
F(shmem_atomic_or(p == 0 ? f : f, 1, 0))
F(shmem_atomic_set(c, 1, 0))
F(shmem_atomic_swap(ld, 1, 0))
F(shmem_max_reduce(team, cd, cd, 1))
F(shmem_sum_reduce(team, pt, pt, 1))
F(shmem_wait_until(d, SHMEM_CMP_EQ, 1.0))
F(shmem_wait_until(c, SHMEM_CMP_EQ, 1))
F(shmem_test(f, SHMEM_CMP_EQ, 1.0f))
}
