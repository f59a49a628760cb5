/** @file types.h  Public header: status codes, error messages, cancellation of calls, lists of
 * names, log callback.  Most other public headers include it.
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
 * Plain data without a size: fbp_view, fbp_panel, fbp_grid, fbp_raw, fbp_predicted,
 * fbp_assumed, fbp_ellipsoid, fbp_half_space, fbp_shape and fbp_phantom,
 * fbp_filtering_params, fbp_region_params, fbp_input_params, fbp_output_params,
 * fbp_epr_params, fbp_cluster_params, fbp_tuning_params, fbp_callbacks, fbp_stopper,
 * fbp_estimate, fbp_drift.
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
    FBP_ERR_IO = -3,      /**< reading or writing failed, or a process of a team is lost */
    FBP_ERR_UNSUPPORTED = -4, /**< this build or device does not support the request */
    FBP_ERR_DEVICE = -5,      /**< driver or kernel failed; the plan cannot be used any more */
    /** The call was cancelled by fbp_stopper_stop() or by a callback of the caller. */
    FBP_ERR_CANCELLED = -6,
} fbp_status;

/**
 * Return the message of a call that has just failed in this thread: what is wrong and what to do,
 * one line without a newline at the end.  "": no failure.  The next call of the library in this
 * thread may clear or replace the text.  If a thread of the library fails, the message is copied to
 * the caller's thread.
 */
FBP_API const char *fbp_message(void);

/** Return the release of the library that the program runs with, such as "0.1.0".  FBP_VERSION is
 *  the release of the header. */
FBP_API const char *fbp_version(void);

/**
 * Cancels calls.  A thread attaches a stopper; after fbp_stopper_stop(), each call of this thread
 * that is running or begins later soon returns FBP_ERR_CANCELLED, and cleans up unfinished work as
 * after any other failure.  Several threads may attach one stopper.
 *
 *     static struct fbp_stopper stopper;             // stopped: false
 *     ...
 *     fbp_stopper_attach(&stopper);
 *     fbp_status status = fbp_plan_run(plan, "volume.mha", &report);
 *
 *     fbp_stopper_stop(&stopper);                    // another thread, a signal handler
 *
 * Reading, filtering, backprojecting and writing check for this request many times per second. Some
 * steps cannot be interrupted: a callback of the caller (which may call fbp_stopped()), a read or
 * write that the system delays, work that a device has begun, and the flush of a finished file to
 * disk.
 */
struct fbp_stopper {
    /** True: fbp_stopper_stop() was called.  To use the stopper again, set `stopped` to false. */
    bool stopped;
};

/** Attach a stopper (which cancels calls) to this thread, in place of its present one; NULL: none.
 * The stopper must exist until another one is attached. */
FBP_API void fbp_stopper_attach(struct fbp_stopper *stopper);

/** Cancel the calls of all threads that have attached the stopper.  NULL: all running and all later
 *  calls of this process, which cannot be undone.  Any thread and a signal handler may call this
 *  function. */
FBP_API void fbp_stopper_stop(struct fbp_stopper *stopper);

/** Return true if the current call has been cancelled, if this thread's stopper was stopped, or if
 * fbp_stopper_stop(NULL) was called.  A program can also check this between calls, in its own
 * loops.  A callback that runs long should call it a few times per second, and fail if it returns
 * true. */
FBP_API bool fbp_stopped(void);

/** Lists of names, for fbp_name().  Scan files, options of the command and keywords in Python use
 * these names. */
enum fbp_list {
    FBP_LIST_TYPES = 0, /**< names of enum fbp_type: "none", "uint8" … "float64" */
    FBP_LIST_KINDS,     /**< names of enum fbp_kind: "cone", "parallel", "planes" */
    FBP_LIST_UNITS,     /**< names of enum fbp_unit: "mm", "cm" */
    /** Names of enum fbp_filter: "ram-lak", "shepp-logan", "cosine", "hamming", "hann",
       "second-difference", "3-point-derivative", "5-point-derivative", "two-ramps",
       "two-ramps-unpadded". */
    FBP_LIST_FILTERS,
    FBP_LIST_PADS,           /**< names of enum fbp_pad_kind: "none", "cosine", "ellipse" */
    FBP_LIST_REFINEMENTS,    /**< names of enum fbp_refine: "1", "2", "4", "auto" */
    FBP_LIST_INTERPOLATIONS, /**< names of enum fbp_interpolation: "linear", "nearest", "cubic" */
    /** Names of enum fbp_ring_interpolation: "fft", "spline", "linear". */
    FBP_LIST_RING_INTERPOLATIONS,
    /** Names of enum fbp_quadrature: "auto", "bands", "voronoi", "harmonics", "given". */
    FBP_LIST_QUADRATURES,
    /** Names of enum fbp_direction_set: "solid-angle", "linear-angle", "fibonacci". */
    FBP_LIST_DIRECTION_SETS,
    FBP_LIST_DIRECTION_ORDERS, /**< names of enum fbp_direction_order: "plain", "flip", "msps" */
    FBP_LIST_POLES,            /**< names of enum fbp_pole: "z", "x", "y" */
    FBP_LIST_ADJUSTMENTS, /**< names of enum fbp_adjust: "centre", "tilt", "offset", "sod", "sdd" */
    /** Names for fbp_recon_params.device: "auto", then the kinds of devices in this build, usable
       on this machine or not. */
    FBP_LIST_DEVICES,
    /** Names of backprojection kernels of all devices, for fbp_recon_params.tuning.kernel:
       "matrix", "column" …. */
    FBP_LIST_KERNELS,
    FBP_LIST_PHANTOMS, /**< names that fbp_phantom_create() accepts */
};

/** Return entry i, from 0, of a list of names; if the list belongs to an enum, i is the value of
 * the enum.  "": the value has no name; NULL: i is beyond the end of the list. */
FBP_API const char *fbp_name(enum fbp_list list, size_t i);

/** Inverse of fbp_name(): index of a name in a list; -1: the list does not contain the name.  Case,
 * dashes, underscores and spaces do not count, and common names of other programs, such as
 * "hanning" and "ramp", are accepted: the names that options of the command accept. */
FBP_API int fbp_name_find(enum fbp_list list, const char *name);

/** Severity of a log line. */
enum fbp_log_level { FBP_LOG_NOTE = 0, FBP_LOG_WARNING };

/** Callback that receives one log line, without a newline; called from one thread at a time. */
typedef void fbp_log_fn(void *user, enum fbp_log_level level, const char *line);

FBP_END

#endif /* FBP_TYPES_H */
