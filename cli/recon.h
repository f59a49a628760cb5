/** @file recon.h  What the commands recon, plan and bench share: options, scan, plan, texts. */
#ifndef FBP_CLI_RECON_H
#define FBP_CLI_RECON_H

#include "cli.h"

#include <math.h>

struct recon_args {
    struct fbp_recon_params p;
    const char *scan, *output, *preview, *timeline, *model;
    size_t size[3];
    double voxel[3];
    double centre; /**< NaN: where the scan has it */
    bool spatial, plan, json, quiet;
    bool flip_u, flip_v, reverse;
};

/** What a struct recon_args starts with where 0 is a value. */
#define RECON_ARGS .centre = NAN

/** Names of the enums, for the option tables. */
extern const char *const recon_filters[], *const recon_weights[], *const recon_precisions[];

#define R struct recon_args
// clang-format off
/** The options that decide how a volume is computed; rows of an option table. */
#define RECON_OPTIONS                                                                             \
    OPT(R, size, .name = "size", .arg = "N|NxMxL", .min = 1, .max = 1 << 20,                      \
        .fallback = "the scan's", .help = "voxels along x, y, z"),                       \
    OPT(R, voxel, .name = "voxel", .arg = "MM|XxYxZ", .min = 1e-6, .max = 1e4,                    \
        .fallback = "the scan's", .help = "voxel sides along x, y, z [mm]"),             \
    OPT(R, flip_u, .name = "flip-u", .help = "detector columns run the other way"),               \
    OPT(R, flip_v, .name = "flip-v", .help = "detector rows run the other way"),                  \
    OPT(R, reverse, .name = "reverse", .help = "the source goes round the other way"),            \
    OPT(R, centre, .name = "centre", .arg = "COLUMN", .min = -1e6, .max = 1e6,                    \
        .fallback = "the scan's",                                                                 \
        .help = "detector column, from 0, that the rotation axis falls on"),                      \
    OPT(R, p.filter, .name = "filter", .arg = "NAME", .names = recon_filters,                     \
        .fallback = "ram-lak", .help = "window on the ramp"),                            \
    OPT(R, p.cutoff, .name = "cutoff", .arg = "F", .min = 0.01, .max = 1,                         \
        .fallback = "1", .help = "where the filter ends, as a fraction of Nyquist"),     \
    OPT_SWITCH(R, p.spatial_filter, .name = "spatial",                                            \
        .help = "convolve in space instead of by FFT: the same kernel, slower"),                  \
    OPT(R, p.half_width, .name = "half-width", .arg = "S", .min = 1, .max = 1 << 20,              \
        .fallback = "the whole row",                                                     \
        .help = "cut the spatial kernel off after S taps a side; implies --spatial"),             \
    OPT(R, p.angular_weights, .name = "angular-weights", .arg = "NAME", .names = recon_weights,   \
        .fallback = "the scan's, or auto",                                               \
        .help = "weight of a view: by its true distance to its neighbours, or all alike"),                      \
    OPT(R, p.mu_water, .name = "hu", .arg = "MU_WATER", .min = 1e-9, .max = 1e3,                  \
        .fallback = "1/mm",                                                              \
        .help = "values in Hounsfield units, given the attenuation of water [1/mm]"),             \
    OPT(R, p.device, .name = "device", .arg = "NAME", .fallback = "auto",                \
        .help = "where to compute: auto, ref, cpu ...; fbp devices lists them"),                    \
    OPT(R, p.kernel, .name = "kernel", .arg = "NAME", .fallback = "the fastest", \
        .help = "matrix takes any geometry, column untilted circular scans"), \
    OPT(R, p.precision, .name = "precision", .arg = "NAME", .names = recon_precisions,            \
        .fallback = "the device's", .help = "speed against exactness"),                  \
    OPT(R, p.n_threads, .name = "threads", .arg = "N", .min = 0, .max = 4096,                     \
        .fallback = "all cores", .help = "threads to compute with"),                     \
    OPT_BYTE_COUNT(R, p.memory_bytes, .name = "memory", .arg = "BYTES",                           \
        .fallback = "80% of what is free",                                               \
        .help = "hard limit of the memory this process holds, such as 8G or 600M"),               \
    OPT_BYTE_COUNT(R, p.device_memory_bytes, .name = "device-memory", .arg = "BYTES",             \
        .fallback = "90% of what is free", .help = "limit of a device's own memory"),    \
    OPT(R, p.slab_slices, .name = "slab", .arg = "N", .min = 1, .max = 1 << 20,                   \
        .fallback = "planned", .help = "slices computed at a time, at most"),            \
    OPT(R, p.batch_views, .name = "batch", .arg = "N", .min = 1, .max = 1 << 20,                  \
        .fallback = "planned", .help = "views computed at a time, at most")
// clang-format on

/** Move the panels of all views along u so that the axis falls on `column` (mean over views). */
fbp_status recon_centre(struct fbp_scan *scan, double column);

/** Load the scan, its axis where --centre has it; returns 0 or an exit status. */
int recon_load(const struct recon_args *args, struct fbp_scan *scan);

/**
 * Load the scan, complete the parameters (half-width, volume) and plan.
 * @return 0 with *scan and *plan set, else an exit status; a failure has been reported, and
 *         fbp_scan_clear() and fbp_plan_destroy() are safe.
 */
int recon_prepare(struct recon_args *args, struct fbp_scan *scan, fbp_plan **plan);

/** Print a plan and its expected time for people, or as JSON; returns the exit status. */
int plan_print(const fbp_plan *plan, bool json);
/** "cpu, kernel column+mirror, avx2, 8 threads"; returns buf. */
char *plan_device(char *buf, size_t n, const struct fbp_plan_info *p);

/** A progress bar on standard error; `user` of the callbacks. */
struct progress {
    size_t n_views;
    double drawn; /**< when it was drawn last; 0 = not to be seen */
    bool visible, quiet;
};

/** Also takes over SIGINT and SIGTERM: the first cancels, the second kills. */
void progress_start(struct progress *progress, size_t n_views, bool quiet);
/** An fbp_recon_params.progress. */
int progress_update(void *user, const struct fbp_progress *now);
/** An fbp_log_fn: a line above the bar, unless quiet. */
void progress_log(void *user, enum fbp_log_level level, const char *line);
/** Erase the bar. */
void progress_end(struct progress *progress);

#endif /* FBP_CLI_RECON_H */
