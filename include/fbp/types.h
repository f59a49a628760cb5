/** @file types.h  Status codes, messages, cancellation and types that all public headers use.
 *
 * The library has two kinds of structs.
 *
 * Structs of parameters and results begin with `size_t struct_size`.  The caller sets it to the
 * size of the struct before the call, also for results:
 *
 *     struct fbp_scan scan = {.struct_size = sizeof scan};
 *     struct fbp_report report = {.struct_size = sizeof report};
 *
 * Before release 1.0, a program must be compiled with the headers of the library that it runs with:
 * a different struct_size is refused (FBP_ERR_INVALID).
 *
 * Plain data without a size: fbp_view, fbp_views, fbp_panel, fbp_grid, fbp_raw, fbp_predicted,
 * fbp_assumed, fbp_tile, fbp_ellipsoid, fbp_half_space, fbp_shape and fbp_phantom,
 * fbp_filtering_params, fbp_region_params, fbp_input_params, fbp_output_params,
 * fbp_epr_params, fbp_cluster_params, fbp_tuning_params, fbp_callbacks.
 */
#ifndef FBP_TYPES_H
#define FBP_TYPES_H

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
 * A required pointer that is NULL causes FBP_ERR_INVALID.  Functions with another result type
 * return 0, false, NAN or NULL in that case; functions without a result do nothing.
 */
typedef enum fbp_status {
    FBP_OK = 0,
    FBP_ERR_INVALID = -1, /**< argument or input outside its documented domain */
    FBP_ERR_NOMEM = -2,   /**< host or device memory is exhausted, or a memory limit is too low */
    FBP_ERR_IO = -3,      /**< reading or writing failed; the message contains the text of errno */
    FBP_ERR_UNSUPPORTED = -4, /**< this build or device does not support the request */
    FBP_ERR_DEVICE = -5,      /**< driver or kernel failed; the plan cannot be used any more */
    FBP_ERR_CANCELLED = -6,   /**< by a callback, fbp_plan_stop(), fbp_stopper_stop(), fbp_stop() */
} fbp_status;

/**
 * Return the message of the last failed call in this thread: what is wrong and what to do, one line
 * without a newline at the end.  "" if no call has failed.  The pointer is valid until the next
 * failed call in this thread.  If a thread of the library fails, the message is copied to the
 * caller's thread.
 */
FBP_API const char *fbp_message(void);

/**
 * Make text from a file safe to print on a terminal.  Control characters (one byte, DEL, U+0080 to
 * U+009F, Unicode's line ends and changes of direction) and bytes that are not UTF-8 become escapes
 * as in JSON, \u001b or \u009b.  Messages and log lines of the library are already safe; file
 * names, units and notes of a scan or an array are not.
 *
 * out   [room] bytes, terminated by 0; text that does not fit is omitted, in whole characters
 * text  [n] bytes
 * keep  one-byte control characters that are not changed, such as "\n"; "": none
 * @return length of the text in `out`
 */
FBP_API size_t fbp_printable(char *out, size_t room, const char *text, size_t n, const char *keep);

/** Print a number of bytes with three digits: "64 B", "12.5 KiB", "1.50 GiB" (powers of 1024). Text
 *  beyond buf[n] is omitted.  Returns buf. */
FBP_API char *fbp_bytes_text(char *buf, size_t n, uint64_t bytes);

/** Return the release of the library that the program runs with, such as "0.1.0".  FBP_VERSION is
 *  the release of the header. */
FBP_API const char *fbp_version(void);

/**
 * Cancel every running and every later call of this process: calls return FBP_ERR_CANCELLED as soon
 * as possible and clean up unfinished work as after any other failure.  A signal handler may call
 * this function.  The cancellation cannot be undone.
 */
FBP_API void fbp_stop(void);

/** Cancels the calls of single threads, whereas fbp_stop() cancels the calls of all threads. */
typedef struct fbp_stopper fbp_stopper;

/** Create a stopper.  Free it with fbp_stopper_destroy() after the last call of a thread that uses
 *  it.  @return FBP_ERR_NOMEM. */
FBP_API FBP_MUST_CHECK fbp_status fbp_stopper_create(fbp_stopper **out);

/** Attach a stopper to this thread: after fbp_stopper_stop(), calls of this thread soon return
 *  FBP_ERR_CANCELLED.  NULL: detach.  Runs of a plan and calls with a `progress` parameter ignore
 *  the stopper: fbp_plan_stop() or that callback cancels them. */
FBP_API void fbp_stopper_attach(fbp_stopper *stopper);

/** Cancel the calls of all threads that use the stopper.  Any thread and a signal handler may call
 *  this function.  The cancellation cannot be undone. */
FBP_API void fbp_stopper_stop(fbp_stopper *stopper);

/** Free a stopper and set the caller's pointer to NULL.  *stopper may be NULL. */
FBP_API void fbp_stopper_destroy(fbp_stopper **stopper);

/** True if the current call has been cancelled by fbp_stop(), fbp_stopper_stop(), fbp_plan_stop()
 *  or a callback.  Callbacks that run long check this a few times per second, and fail if it is
 *  true. */
FBP_API bool fbp_stopped(void);

/**
 * Limit the resident set of this process [bytes] from now on: for plans, readers of files and child
 * processes (fbp_isolate_readers()).  0: no limit.  Only the owner of the process, such as the
 * command, should set it; fbp_recon_params.memory_bytes limits the memory that one plan adds.
 */
FBP_API void fbp_limit_memory(size_t bytes);

/**
 * Select the process in which libhdf5 runs.  true: only in forked child processes with limits of
 * time and memory, which protect this process against crashes and blocking by a damaged file.
 * false (default): in this process, and the library never forks.  libhdf5 is not thread-safe: a
 * program that also calls libhdf5 must not do so while a call of this library opens or reads HDF5.
 * Call this function before other calls.
 */
FBP_API void fbp_isolate_readers(bool isolate);

/** Severity of a log line. */
enum fbp_log_level { FBP_LOG_NOTE = 0, FBP_LOG_WARNING };

/** Callback that receives one log line, without a newline; called from one thread at a time. */
typedef void fbp_log_fn(void *user, enum fbp_log_level level, const char *line);

FBP_END

#endif /* FBP_TYPES_H */
