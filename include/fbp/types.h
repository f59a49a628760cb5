/** @file types.h  Status codes, messages and types for all public headers.
 *
 * There are two sorts of structs.
 *
 * Parameters and results begin with `size_t struct_size`.  The caller sets it to the size of the
 * struct before the call, also for results:
 *
 *     struct fbp_scan scan = {.struct_size = sizeof scan};
 *     struct fbp_report report = {.struct_size = sizeof report};
 *
 * Until release 1.0 a program needs the headers of the library that it runs with: any other
 * struct_size is refused (FBP_ERR_INVALID).
 *
 * Plain data without a size: fbp_view, fbp_views, fbp_panel, fbp_grid, fbp_raw, fbp_predicted,
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

/**
 * Result of every call that can fail.  Zero is success; the numbers never change.
 *
 * A pointer that must be given and is NULL is FBP_ERR_INVALID.  Functions with another result
 * return 0, false, NAN or NULL for it, and those without a result do nothing.
 */
typedef enum fbp_status {
    FBP_OK = 0,
    FBP_ERR_INVALID = -1,     /**< argument or input outside its documented domain */
    FBP_ERR_NOMEM = -2,       /**< host or device memory, or a limit the user set */
    FBP_ERR_IO = -3,          /**< source or sink failed; the message has the text of errno */
    FBP_ERR_UNSUPPORTED = -4, /**< this build or device cannot do it */
    FBP_ERR_DEVICE = -5,      /**< driver or kernel failed; the plan cannot be used any more */
    FBP_ERR_CANCELLED = -6,   /**< by a callback, fbp_plan_stop() or fbp_stop() */
} fbp_status;

/**
 * The message of the last call that failed in this thread: the fact and the remedy, one line
 * without a newline at the end.  "" if no call has failed.  Valid until the next call that fails in
 * this thread.  If a thread of the library fails, the caller's thread gets the message.
 */
FBP_API const char *fbp_message(void);

/**
 * Make text from a file safe to show on a terminal.  Control characters (of one byte, DEL, U+0080
 * to U+009F, Unicode's line ends and directions) and bytes that are not UTF-8 become escapes as in
 * JSON, \u001b or \u009b.  Messages and log lines of the library are safe; file names, units and
 * notes of a scan or an array are not.
 *
 * out   ends with 0; text beyond `room` is left out, in whole characters
 * text  [n] bytes
 * keep  control characters of one byte that are not changed, such as "\n"; "" for none
 * @return the length of out
 */
FBP_API size_t fbp_printable(char *out, size_t room, const char *text, size_t n, const char *keep);

/** A number of bytes as text with three digits: "64 B", "12.5 KiB", "1.50 GiB" (powers of 1024).
 * Text beyond buf[n] is left out; returns buf. */
FBP_API char *fbp_bytes_text(char *buf, size_t n, uint64_t bytes);

/** Release of the library that the program runs with, such as "0.1.0".  FBP_VERSION is the release
 * of the header. */
FBP_API const char *fbp_version(void);

/**
 * Cancel every running call of this process, and every later one: they return FBP_ERR_CANCELLED as
 * soon as possible.  Unfinished work is cleaned up, as after any other failure.  A signal handler
 * may call it.  It cannot be undone.
 */
FBP_API void fbp_stop(void);

/** Cancels calls of single threads, whereas fbp_stop() cancels all. */
typedef struct fbp_stopper fbp_stopper;

/** Create one.  Free with fbp_stopper_destroy(), after the last call of a thread that uses it. */
FBP_API FBP_MUST_CHECK fbp_status fbp_stopper_create(fbp_stopper **out);

/** Use it in this thread, whose calls then return FBP_ERR_CANCELLED soon after fbp_stopper_stop();
 *  NULL: use none.  fbp_plan_stop() ends runs of a plan, and `progress` calls with such a
 * parameter.
 */
FBP_API void fbp_stopper_attach(fbp_stopper *stopper);

/** Cancel these calls.  Any thread and a signal handler may call it.  It cannot be undone. */
FBP_API void fbp_stopper_stop(fbp_stopper *stopper);

/** Free it and set the caller's pointer to NULL.  *stopper may be NULL. */
FBP_API void fbp_stopper_destroy(fbp_stopper **stopper);

/** True if fbp_stop(), fbp_plan_stop() or a callback has cancelled the current call.  Callbacks
 * that take long check it a few times per second, and fail if it is true. */
FBP_API bool fbp_stopped(void);

/**
 * Hard limit of the resident set of this process [bytes], from now on: for plans, for readers of
 * files, and for child processes (fbp_isolate_readers()).  0: no limit.  It is meant for the owner
 * of the process, such as the command; fbp_recon_params.memory_bytes limits only what a plan adds.
 */
FBP_API void fbp_limit_memory(size_t bytes);

/**
 * true: enter libhdf5 in forked child processes only, with limits of time and memory, so that a
 * damaged file cannot crash or block this process.  The default is false: it runs in this process,
 * and the library never forks.  libhdf5 is not safe for threads: a program that calls it, too, must
 * not do so while a call of this library opens or reads HDF5.  Set it before other calls.
 */
FBP_API void fbp_isolate_readers(bool isolate);

/** How serious a log line is. */
enum fbp_log_level { FBP_LOG_NOTE = 0, FBP_LOG_WARNING };

/** Receives one line, without a newline; called from one thread at a time. */
typedef void fbp_log_fn(void *user, enum fbp_log_level level, const char *line);

FBP_END

#endif /* FBP_TYPES_H */
