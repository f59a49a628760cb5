/** @file status.h  Failing with a sentence (internal). */
#ifndef FBP_SRC_STATUS_H
#define FBP_SRC_STATUS_H

#include "fbp/types.h"

/**
 * Latch a message for this thread and return `status`: `return fbp_fail(FBP_ERR_IO, "%s: %s", …)`.
 * The first message since the last fbp_message_clear() stays; later ones are consequences.
 */
fbp_status fbp_fail(fbp_status status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** "cannot allocate 1.2 GiB for WHAT" as FBP_ERR_NOMEM. */
fbp_status fbp_fail_nomem(size_t bytes, const char *what);

#if defined __clang_analyzer__ && !defined FBP_STATUS_C
/* Failing is never FBP_OK: without this static analysis follows paths that are none. */
#    define fbp_fail(status, ...)       ((void)fbp_fail(status, __VA_ARGS__), (status))
#    define fbp_fail_nomem(bytes, what) ((void)fbp_fail_nomem(bytes, what), FBP_ERR_NOMEM)
#endif

/** Put "WHERE: " before the message of a failure; returns st. */
fbp_status fbp_because(const char *where, fbp_status st);

/** Forget the message; every public entry point does this first. */
void fbp_message_clear(void);

/** Latch another thread's message in this one. */
void fbp_message_adopt(const char *text);

/** FBP_ERR_INVALID if one of the pointers is NULL; names: of the arguments, with commas. */
fbp_status fbp_check_given(const char *function, const char *names, const void *const *pointers,
                           size_t n);

/** The first line of a public function: these pointers must be given.  The second form returns
 *  `value` if one of them is not, and has no message: signal handlers may call such functions. */
#define FBP_POINTERS(...) ((const void *const[]){__VA_ARGS__})
#define FBP_GIVEN(...)                                                         \
    FBP_TRY(fbp_check_given(__func__, #__VA_ARGS__, FBP_POINTERS(__VA_ARGS__), \
                            sizeof FBP_POINTERS(__VA_ARGS__) / sizeof(void *)))
#define FBP_GIVEN_ELSE(value, ...)                                                        \
    do {                                                                                  \
        for (size_t i_ = 0; i_ < sizeof FBP_POINTERS(__VA_ARGS__) / sizeof(void *); i_++) \
            if (!FBP_POINTERS(__VA_ARGS__)[i_])                                           \
                return value;                                                             \
    } while (0)

/** Pass a failure on. */
#define FBP_TRY(expr)                       \
    do {                                    \
        const fbp_status fbp_try_ = (expr); \
        if (fbp_try_ != FBP_OK)             \
            return fbp_try_;                \
    } while (0)

/** Pass a failure on through the function's `fail:` label, with its status in `st`. */
#define FBP_TRY_GOTO(expr) \
    do {                   \
        st = (expr);       \
        if (st != FBP_OK)  \
            goto fail;     \
    } while (0)

#endif /* FBP_SRC_STATUS_H */
