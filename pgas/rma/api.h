/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * api.h - definition of a public routine: an API row, which declares the kind of each
 * parameter, and a body, which calls one function.
 *
 *     ROUTINE(void, shmem_long_put, sizeof(long), ALONE,
 *             (long *, dest, SYM), (const long *, source, LOCAL),
 *             (size_t, nelems, COUNT), (int, pe, PE))
 *     {
 *         rma_put(SHMEM_CTX_DEFAULT, dest, source,
 *                 rma_bytes(nelems, sizeof(long), fn), pe, fn);
 *     }
 *
 * A row has: the result type, the name, the bytes of an element, the scope (check_scope:
 * which PEs call it), and for each parameter its type, its name in the specification and
 * its kind (core/check/check.h).  The body may use the parameters and `fn`, the routine's
 * name.
 *
 * A row defines the strong symbol pshmem_x and the weak symbol shmem_x, so that a tool
 * can define shmem_x and call pshmem_x (section 10).  It also defines an out-of-line
 * checked entry point, which verifies the arguments and records collectives (check_watch)
 * before it runs the same body.  With checks and recording off, this costs one load and
 * one branch. Only the api_*.c files include this header; the library never calls a
 * public name.
 */
#ifndef PGAS_RMA_API_H
#define PGAS_RMA_API_H

#define SHMEM_NO_GENERICS
#pragma GCC visibility push(default)
#include "include/pshmem.h"
#include "include/shmem.h"
#pragma GCC visibility pop
#include "include/shmem_types.def"
#include "pgas/core/check/check.h"
#include "pgas/core/team/ctx.h"
#include "pgas/core/base/pgas.h"
#include "pgas/ft/ft.h"
#include "pgas/threads/atomic.h"

/* The wrappers return the value of the body, which may be void. */
#pragma GCC diagnostic ignored "-Wpedantic"

/* clang-format off */

/* EACH(m, (a), (b), ...) expands to m(a), m(b), ... for up to 10 parameters */
#define API_EACH_1(m, p)       m p
#define API_EACH_2(m, p, ...)  m p, API_EACH_1(m, __VA_ARGS__)
#define API_EACH_3(m, p, ...)  m p, API_EACH_2(m, __VA_ARGS__)
#define API_EACH_4(m, p, ...)  m p, API_EACH_3(m, __VA_ARGS__)
#define API_EACH_5(m, p, ...)  m p, API_EACH_4(m, __VA_ARGS__)
#define API_EACH_6(m, p, ...)  m p, API_EACH_5(m, __VA_ARGS__)
#define API_EACH_7(m, p, ...)  m p, API_EACH_6(m, __VA_ARGS__)
#define API_EACH_8(m, p, ...)  m p, API_EACH_7(m, __VA_ARGS__)
#define API_EACH_9(m, p, ...)  m p, API_EACH_8(m, __VA_ARGS__)
#define API_EACH_10(m, p, ...) m p, API_EACH_9(m, __VA_ARGS__)
#define API_TENTH(a, b, c, d, e, f, g, h, i, j, n, ...) n
#define API_COUNT(...) API_TENTH(__VA_ARGS__, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define API_JOIN_(a, b) a##b
#define API_JOIN(a, b) API_JOIN_(a, b)
#define EACH(m, ...) API_JOIN(API_EACH_, API_COUNT(__VA_ARGS__))(m, __VA_ARGS__)

/* Projections of a parameter */
#define PAR_DECLARE(type, name, kind) type name
#define PAR_PASS(type, name, kind)    name
#define PAR_NAME(type, name, kind)    #name
#define PAR_KIND(type, name, kind)    CHECK_##kind
#define PAR_VALUE(type, name, kind)                                                      \
    (uint64_t)__builtin_choose_expr(CHECK_##kind == CHECK_ANY, 0, name)

/* A routine that a failure ends returns no new team. */
#define PAR_CLEAR(type, name, kind)                                                      \
    (CHECK_##kind == CHECK_NEW_TEAM ? ft_clear_team(PAR_VALUE(type, name, kind))         \
                                    : (void)0)

/* The two public names of a routine */
#define API(ret, name, args)                                                             \
    extern __attribute__((weak, alias("p" #name), visibility("default"))) ret name args; \
    __attribute__((visibility("default"))) ret p##name args

/* The call record `api_call` of a checked entry point, the argument of check_call */
#define API_CALL(fname, bytes, where, ...)                                               \
    static const char *const api_names[] = {EACH(PAR_NAME, __VA_ARGS__)};                \
    static const uint8_t api_kinds[] = {EACH(PAR_KIND, __VA_ARGS__)};                    \
    const uint64_t api_values[] = {EACH(PAR_VALUE, __VA_ARGS__)};                        \
    API_RETURN_##where struct check_call api_call = {.fn = fname, .size = bytes,         \
        .scope = CHECK_##where, .n = API_COUNT(__VA_ARGS__),                             \
        .name = api_names, .kind = api_kinds, .value = api_values}

/* Per scope: the cleanup on return from the checked entry point */
#define API_RETURN_ALONE
#define API_RETURN_ANYTIME
#define API_RETURN_BY_TEAM  __attribute__((cleanup(check_return)))
#define API_RETURN_BY_WORLD API_RETURN_BY_TEAM
#define API_RETURN_BY_SET   API_RETURN_BY_TEAM

/* Per scope: the guard of a collective, which ends the routine with an error when a PE of
 * its team fails (ft/ft.h) */
#define API_GUARD_ALONE(ret)
#define API_GUARD_ANYTIME(ret)
#define API_GUARD_BY_TEAM(ret)                                                           \
    FT_GUARD(api_guard, ft_guard_open(&api_guard, &api_call),                            \
             (ret)API_ERROR(ret, api_guard));
#define API_GUARD_BY_WORLD(ret) API_GUARD_BY_TEAM(ret)
#define API_GUARD_BY_SET(ret)   API_GUARD_BY_TEAM(ret)
/* The value that a routine returns in case of an error: a code or NULL */
#define API_ERROR(ret, guard)                                                            \
    (intptr_t)(__builtin_types_compatible_p(ret, void *) ? 0 : (guard).status)

/* The guarded entry point of a collective, without checks.  The team is the first
 * parameter. */
#define API_GUARDED(ret, name, declare, pass, open_call)                                 \
    static __attribute__((noinline)) ret guarded_##name declare                          \
    {                                                                                    \
        FT_GUARD(guard, open_call, (ret)API_ERROR(ret, guard));                          \
        return body_##name pass;                                                         \
    }
#define API_FIRST(p, ...) p
#define API_GUARDED_ALONE(ret, name, ...)
#define API_GUARDED_ANYTIME(ret, name, ...)
#define API_GUARDED_BY_SET(ret, name, ...)
#define API_GUARDED_BY_TEAM(ret, name, ...)                                              \
    API_GUARDED(ret, name, (EACH(PAR_DECLARE, __VA_ARGS__)),                             \
                (#name, EACH(PAR_PASS, __VA_ARGS__)),                                    \
                (EACH(PAR_CLEAR, __VA_ARGS__),                                           \
                 ft_guard_open_handle(&guard, PAR_PASS API_FIRST(__VA_ARGS__, 0),        \
                                      PAR_KIND API_FIRST(__VA_ARGS__, 0), #name)))
#define API_GUARDED_BY_WORLD(ret, name, ...)                                             \
    API_GUARDED(ret, name, (EACH(PAR_DECLARE, __VA_ARGS__)),                             \
                (#name, EACH(PAR_PASS, __VA_ARGS__)),                                    \
                ft_guard_open_team(&guard, team_live()))
#define API_GUARDED_0_ALONE(ret, name)
#define API_GUARDED_0_ANYTIME(ret, name)
#define API_GUARDED_0_BY_WORLD(ret, name)                                                \
    API_GUARDED(ret, name, (void), (#name), ft_guard_open_team(&guard, team_live()))

/* Per scope: how the public routine leaves the fast path */
#define API_SLOW_ALONE(name, ...)                                                        \
    if (unlikely(pgas_self.checked)) { return checked_##name(__VA_ARGS__); }
#define API_SLOW_ANYTIME(name, ...) API_SLOW_ALONE(name, __VA_ARGS__)
#define API_SLOW_BY_TEAM(name, ...)                                                      \
    if (unlikely(pgas_self.guarded)) {                                                   \
        if (!pgas_self.checked) { return guarded_##name(__VA_ARGS__); }                  \
        pgas_thread.call_site = __builtin_return_address(0);                             \
        return checked_##name(__VA_ARGS__); }
#define API_SLOW_BY_WORLD(name, ...) API_SLOW_BY_TEAM(name, __VA_ARGS__)
#define API_SLOW_BY_SET(name, ...)                                                       \
    if (unlikely(pgas_self.guarded)) {                                                   \
        pgas_thread.call_site = __builtin_return_address(0);                             \
        return checked_##name(__VA_ARGS__); }

/* The checked entry point; the body is inlined into both entry points. */
#define API_COLD static __attribute__((noinline, cold))
#define API_CHECKED(ret, name, bytes, where, ...)                                        \
    ALWAYS_INLINE ret body_##name(const char *fn, EACH(PAR_DECLARE, __VA_ARGS__));       \
    API_COLD ret checked_##name(EACH(PAR_DECLARE, __VA_ARGS__))                          \
    {                                                                                    \
        API_CALL(#name, bytes, where, __VA_ARGS__);                                      \
        API_GUARD_##where(ret) check_call(&api_call);                                    \
        return body_##name(#name, EACH(PAR_PASS, __VA_ARGS__));                          \
    }

/* The public routine */
#define API_PUBLIC(ret, name, where, ...)                                                \
    API(ret, name, (EACH(PAR_DECLARE, __VA_ARGS__)))                                     \
    {                                                                                    \
        API_SLOW_##where(name, EACH(PAR_PASS, __VA_ARGS__))                              \
        return body_##name(#name, EACH(PAR_PASS, __VA_ARGS__));                          \
    }

#define ROUTINE(ret, name, bytes, where, ...)                                            \
    API_CHECKED(ret, name, bytes, where, __VA_ARGS__)                                    \
    API_GUARDED_##where(ret, name, __VA_ARGS__)                                          \
    API_PUBLIC(ret, name, where, __VA_ARGS__)                                            \
    ALWAYS_INLINE ret body_##name(const char *fn, EACH(PAR_DECLARE, __VA_ARGS__))

/* A routine without parameters */
#define API_CHECKED_0(ret, name, where)                                                  \
    API_COLD ret checked_##name(void)                                                    \
    {                                                                                    \
        API_RETURN_##where struct check_call api_call =                                  \
            {.fn = #name, .scope = CHECK_##where};                                       \
        API_GUARD_##where(ret) check_call(&api_call);                                    \
        return body_##name(#name);                                                       \
    }
#define API_PUBLIC_0(ret, name, where)                                                   \
    API(ret, name, (void))                                                               \
    {                                                                                    \
        API_SLOW_##where(name)                                                           \
        return body_##name(#name);                                                       \
    }
#define ROUTINE_0(ret, name, where)                                                      \
    ALWAYS_INLINE ret body_##name(const char *fn);                                       \
    API_CHECKED_0(ret, name, where)                                                      \
    API_GUARDED_0_##where(ret, name)                                                     \
    API_PUBLIC_0(ret, name, where)                                                       \
    ALWAYS_INLINE ret body_##name(const char *fn)

/* shmem_X and shmem_ctx_X with one body, which may use `ctx`; in the latter `pe` is a PE
 * number in the context's team */
#define ROUTINE_CTX(ret, X, bytes, BODY, ...)                                            \
    ROUTINE(ret, shmem_##X, bytes, ALONE, __VA_ARGS__)                                   \
    { shmem_ctx_t ctx = SHMEM_CTX_DEFAULT; (void)ctx, (void)fn; BODY; }                  \
    ROUTINE(ret, shmem_ctx_##X, bytes, ALONE, (shmem_ctx_t, ctx, CTX), __VA_ARGS__)      \
    { pe = ctx_world_pe(ctx, pe, fn); BODY; }

/* clang-format on */

#endif
