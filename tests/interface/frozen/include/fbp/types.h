/** @file types.h  Status codes, messages and plain types shared by every public header.
 *
 * Structs of two sorts:
 *
 * Parameters and results begin with `size_t struct_size` and may grow at their end with a release.
 * Whoever calls the library sets it to the size of the struct, of results too, before the call:
 *
 *     struct fbp_scan scan = {.struct_size = sizeof scan};
 *     struct fbp_report report = {.struct_size = sizeof report};
 *
 * A program that was built with an older header has smaller ones: what they lack is 0, the default,
 * and no more is written than they have room for.  One that was built with a newer header has
 * larger ones: they are refused (FBP_ERR_INVALID) unless all that the library does not know is 0.
 * Results that the library owns (fbp_plan_info(), fbp_source_info(), fbp_progress) tell their size:
 * what lies beyond it is not there.
 *
 * Plain data without a size never grow: fbp_view, fbp_views, fbp_panel, fbp_grid, fbp_raw,
 * fbp_assumed, fbp_tile, fbp_ellipsoid, fbp_half_space, fbp_shape and fbp_phantom.
 */
#ifndef FBP_TYPES_H
#define FBP_TYPES_H

#include "fbp/version.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#    define FBP_BEGIN extern "C" {
#    define FBP_END   }
#else
#    define FBP_BEGIN
#    define FBP_END
#endif

#if defined(__GNUC__)
#    define FBP_API        __attribute__((visibility("default")))
#    define FBP_MUST_CHECK __attribute__((warn_unused_result))
#else
#    define FBP_API
#    define FBP_MUST_CHECK
#endif

FBP_BEGIN

/** Result of every call that can fail.  Zero is success; values are stable ABI. */
typedef enum fbp_status {
    FBP_OK = 0,
    FBP_ERR_INVALID = -1,     /**< argument or input outside its documented domain */
    FBP_ERR_NOMEM = -2,       /**< host or device memory, or a limit the user set */
    FBP_ERR_IO = -3,          /**< source or sink failed; errno text in the message */
    FBP_ERR_UNSUPPORTED = -4, /**< this build or device cannot do it */
    FBP_ERR_DEVICE = -5,      /**< driver or kernel failure; the plan is dead */
    FBP_ERR_CANCELLED = -6,   /**< a callback, fbp_plan_stop() or fbp_stop() asked to stop */
} fbp_status;

/**
 * The message of the last call that failed in this thread: the fact and the remedy, one line
 * without a final newline.  "" if none has failed.  Valid until the next failing call of the same
 * thread; failures of worker threads are carried over to the thread that called the library.
 */
FBP_API const char *fbp_message(void);

/**
 * Text that may come from a file, as it may be shown on a terminal: UTF-8 stays, control characters
 * (those of one byte, DEL, U+0080 to U+009F, line ends and directions of Unicode) and bytes that
 * are no UTF-8 become escapes as JSON has them, \u001b or \u009b.  Messages and lines for a log
 * have been through it; names of files, units and notes of a scan or an array have not.
 *
 * out   ends with 0; what there is no room for is left out, never half a character
 * text  [n] bytes
 * keep  control characters of one byte that stay, such as "\n"; "" for none
 * @return the length of out
 */
FBP_API size_t fbp_printable(char *out, size_t room, const char *text, size_t n, const char *keep);

/** A size in the unit that suits it, of three digits: "64 B", "12.5 KiB", "1.50 GiB" (powers of
 * 1024). What there is no room for in buf[n] is left out; returns buf. */
FBP_API char *fbp_bytes_text(char *buf, size_t n, uint64_t bytes);

/** Release of the library that the program runs with, such as "0.1.0"; FBP_VERSION is that of the
 *  header. */
FBP_API const char *fbp_version(void);

/**
 * Ask every running call of this process, and every later one, to return FBP_ERR_CANCELLED as soon
 * as it can: what is not finished is cleaned up as after any other failure.  A signal handler may
 * call it.  There is no way back.
 */
FBP_API void fbp_stop(void);

/** Is the call that this thread works for to end, as fbp_stop(), fbp_plan_stop() or a callback has
 * asked?  For callbacks that take long: they ask a few times a second, and fail if so. */
FBP_API bool fbp_stopped(void);

/**
 * Hard limit of this process's resident set [bytes], from now on: of plans, and of the children in
 * which HDF5 and MAT files are looked at.  0: none.  For whoever owns the process, such as the
 * command; fbp_recon_params.memory_bytes limits what a plan takes beside the rest.
 */
FBP_API void fbp_limit_memory(size_t bytes);

/** How serious a line handed to a log callback is. */
enum fbp_log_level { FBP_LOG_NOTE = 0, FBP_LOG_WARNING };

/** Receives one line (no newline) from one thread at a time. */
typedef void fbp_log_fn(void *user, enum fbp_log_level level, const char *line);

FBP_END

#endif /* FBP_TYPES_H */
