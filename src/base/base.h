/** @file base.h  Errors with messages, checks of arguments and of ranges of numbers, and allocation
 * of memory.  A function that can fail returns fbp_status; fbp_fail() records its message for the
 * calling thread, and fbp_message() (fbp/types.h) returns it.
 * Used by: bench/, cli/, analysis/, array/, backend/, base/, fft/, filter/, geometry/, phantom/,
 * picture/, pipeline/, prep/, scan/, team/. */
#ifndef FBP_SRC_BASE_BASE_H
#define FBP_SRC_BASE_BASE_H

#include "fbp/ranges.h"
#include "fbp/types.h"

#include <stdlib.h>

/* Errors */

/** Record an error message for this thread (format and arguments as for printf()) and return
 * `status`: `return fbp_fail(FBP_ERR_IO, "%s: %s", …)`.  The first message since the last
 * fbp_message_clear() is kept, because later messages are consequences. */
fbp_status fbp_fail(fbp_status status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** Record the message "memory: cannot allocate 1.2 GiB for WHAT; …", and return FBP_ERR_NOMEM. */
fbp_status fbp_fail_nomem(size_t bytes, const char *what);

#if defined __clang_analyzer__ && !defined FBP_STATUS_C
/* Show the static analyzer that fbp_fail() and fbp_fail_nomem() never return FBP_OK. */
#    define fbp_fail(status, ...)       ((void)fbp_fail(status, __VA_ARGS__), (status))
#    define fbp_fail_nomem(bytes, what) ((void)fbp_fail_nomem(bytes, what), FBP_ERR_NOMEM)
#endif

/** Fail with a message: a file or request is invalid (INVALID), or not supported (UNSUPPORTED). */
#define FBP_INVALID(...)     fbp_fail(FBP_ERR_INVALID, __VA_ARGS__)
#define FBP_UNSUPPORTED(...) fbp_fail(FBP_ERR_UNSUPPORTED, __VA_ARGS__)

/** If st is a failure, prepend "WHERE: " to this thread's message; returns st. */
fbp_status fbp_error_context(const char *where, fbp_status st);

/** Delete the error message of this thread; public functions that can fail do this first. */
void fbp_message_clear(void);

/** Record the error message `text` of another thread as the message of this thread, unless this
 * thread has a message already. */
void fbp_message_adopt(const char *text);

/** Evaluate `expr`, and return its status from the calling function if it is a failure. */
#define FBP_TRY(expr)                       \
    do {                                    \
        const fbp_status fbp_try_ = (expr); \
        if (fbp_try_ != FBP_OK)             \
            return fbp_try_;                \
    } while (0)

/** Store the status of `expr` in `st` and, if it is a failure, jump to the label `fail`. */
#define FBP_TRY_GOTO(expr) \
    do {                   \
        st = (expr);       \
        if (st != FBP_OK)  \
            goto fail;     \
    } while (0)

/* Checks of arguments */

/** Fail with FBP_ERR_INVALID if one of n pointers is NULL.  names: names of the arguments,
 * separated by commas. */
fbp_status fbp_check_pointers(const char *function, const char *names, const void *const *pointers,
                              size_t n);

/** FBP_REQUIRE(pointers…), at the start of a public function: if one of the pointers is NULL, the
 * function returns FBP_ERR_INVALID with a message.  FBP_REQUIRE_ELSE() instead returns `value`
 * without a message, so signal handlers may call functions that use it. */
#define FBP_POINTERS(...) ((const void *const[]){__VA_ARGS__})
#define FBP_REQUIRE(...)                                                          \
    FBP_TRY(fbp_check_pointers(__func__, #__VA_ARGS__, FBP_POINTERS(__VA_ARGS__), \
                               sizeof FBP_POINTERS(__VA_ARGS__) / sizeof(void *)))
#define FBP_REQUIRE_ELSE(value, ...)                                                      \
    do {                                                                                  \
        for (size_t i_ = 0; i_ < sizeof FBP_POINTERS(__VA_ARGS__) / sizeof(void *); i_++) \
            if (!FBP_POINTERS(__VA_ARGS__)[i_])                                           \
                return value;                                                             \
    } while (0)

/** Copy the caller's struct `name` (n bytes) to `own`; FBP_ERR_INVALID if its size differs.  Each
 * public struct of parameters or results begins with size_t struct_size, which must equal the size
 * in this build of the library. */
fbp_status fbp_copy_struct_in(const char *name, void *own, size_t n, const void *theirs);

/** Check struct_size of a caller's struct as fbp_copy_struct_in() does, but do not copy it. */
fbp_status fbp_check_struct(const char *name, const void *theirs, size_t n);

/** Copy the struct `own` to the caller's struct `theirs`, except struct_size. */
void fbp_copy_struct_out(void *theirs, const void *own, size_t n);

/** Macros that copy in, check or copy out a public struct fbp_WHAT, and pass its name and size. */
#define FBP_COPY_IN(what, own, theirs) \
    fbp_copy_struct_in("fbp_" #what, own, sizeof(struct fbp_##what), theirs)
#define FBP_CHECK(what, theirs)         fbp_check_struct("fbp_" #what, theirs, sizeof(struct fbp_##what))
#define FBP_COPY_OUT(what, theirs, own) fbp_copy_struct_out(theirs, own, sizeof(struct fbp_##what))

/** Range of allowed numbers from min to max, both included; infinities and NaN are outside. */
struct fbp_range {
    double min, max;
    bool whole;
    const char *expected; /**< text for messages, such as "a number from 1 to 3 (mm)" */
};

/** Ranges of parameters, most of them with the limits of the public header fbp/ranges.h. */
extern const struct fbp_range fbp_range_finite, fbp_range_pitch, fbp_range_distance,
    fbp_range_position, fbp_range_angle, fbp_range_rotation, fbp_range_skew, fbp_range_header,
    fbp_range_i0, fbp_range_depth, fbp_range_value, fbp_range_scale, fbp_range_noise,
    fbp_range_noise_sd, fbp_range_decay, fbp_range_gradient, fbp_range_seconds, fbp_range_cutoff,
    fbp_range_wiener, fbp_range_bytes, fbp_range_mu, fbp_range_side, fbp_range_threads,
    fbp_range_views;

bool fbp_in_range(const struct fbp_range *range, double x);

/** Fail with "NAME: found 7, expected a number from …" if x is outside of the range. */
fbp_status fbp_check_range(const struct fbp_range *range, const char *name, double x);

/** Check a range like fbp_check_range(), but also accept 0, which means the default. */
fbp_status fbp_check_optional(const struct fbp_range *range, const char *name, double x);

/** Fail with FBP_ERR_INVALID if the value of an enum is not from 0 to `most`.  name: name of the
 * parameter, for the message. */
fbp_status fbp_check_choice(const char *name, long value, long most);

/* Memory */

/** Alignment of memory from fbp_alloc() [bytes]: that of a cache line and of a 512-bit vector. */
enum { FBP_ALIGN = 64 };

/** Set *out to the number of elements a * b; returns FBP_ERR_NOMEM if the product overflows.  what:
 * name of the memory, for the message. */
fbp_status fbp_mul(size_t a, size_t b, const char *what, size_t *out);

/** Allocate uninitialized memory aligned to FBP_ALIGN (blocks of 2 MiB and more: to 2 MiB); *out is
 * NULL on failure.  what: name of the memory, for the message.  fbp_free() releases it. */
fbp_status fbp_alloc(void **out, size_t bytes, const char *what);
void fbp_free(void *p);

/** Take the next `bytes` of a block of fbp_alloc(), aligned to FBP_ALIGN: returns their address,
 * and adds their number, rounded up, to *used.  block NULL: only *used is computed. */
static inline void *fbp_carve(void *block, size_t *used, size_t bytes)
{
    void *const part = block ? (char *)block + *used : NULL;

    *used += (bytes + FBP_ALIGN - 1) / FBP_ALIGN * FBP_ALIGN;
    return part;
}

/** Allocate n zeroed elements of `size` bytes; free() releases them. */
fbp_status fbp_calloc(void **out, size_t n, size_t size, const char *what);

/** Reallocate *list, which has space for *room elements of `size` bytes, if n elements do not fit;
 * *room is then at least doubled. */
fbp_status fbp_reserve(void **list, size_t size, size_t n, size_t *room, const char *what);

/** Resident set of this process [bytes]; 0 if the system does not report it. */
uint64_t fbp_resident_bytes(void);

/** The limit set by fbp_limit_memory() [bytes]; 0: none. */
uint64_t fbp_process_limit(void);

/** Memory that programs can still allocate without swapping [bytes]; half of the physical memory if
 * the system does not report it. */
uint64_t fbp_available_bytes(void);

/**
 * Limit the resident set of this process [bytes] from now on: plans, readers of files and their
 * child processes (fbp_isolate_readers()) obey the limit.  0: no limit.  Only the owner of the
 * process, such as the command, should set it; fbp_recon_params.memory_bytes limits the memory that
 * one plan adds.
 */
void fbp_limit_memory(size_t bytes);

#endif /* FBP_SRC_BASE_BASE_H */
