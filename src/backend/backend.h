/** @file backend.h  The interface of all devices: struct fbp_job describes one reconstruction,
 * struct fbp_backend is the table of functions ("slots") of one kind of device (internal).
 *
 * The pipeline (src/pipeline) calls the slots, and handles views, rows, batches and slabs; it
 * contains no scan geometry, no kernel and no kind of memory.  A backend filters and backprojects;
 * it may have its own memory and its own queues.
 * Used by: bench/, cli/, backend/, pipeline/.
 */
#ifndef FBP_SRC_BACKEND_H
#define FBP_SRC_BACKEND_H

#include "fbp/recon.h"

#include "array/device_memory.h"
#include "base/threads.h"
#include "filter/filter.h"
#include "geometry/volume.h"
#include "prep/prep.h"
#include "weight/weight.h"

/*
 * Data pass through these buffers:
 *
 *     host [view][row][column], float, double or uint16       read by pipeline/stage_read.c
 *       | upload (IN)
 *     raw        copy on the device; uint16 become floats there (backend/rows.h)
 *       | filter (FILTER): corrections, weights, filter
 *     filtered   layout of the device, `filtered_bytes` bytes per batch
 *       | backproject (BP), batch after batch, into
 *     volume     layout of the device, `volume_bytes` bytes per slab
 *       | fetch (OUT)
 *     host [channel][z][y][x], float or double                  written by array/sink.c
 *
 * To write a backend: define a const struct fbp_backend fbp_backend_NAME and add NAME to the list
 * in backend.c.  Required are name, summary, filtered_bytes, volume_bytes, can.group_views, open,
 * close, filter, clear, backproject and fetch (src/backend/ref is an example).  All other slots and
 * flags may be left out (NULL, false, 0): the comment of each states the default.  Callers use a
 * completed copy (backend/device.h): in it, missing slots have default functions, except
 * discovery.load, memory.upload_pieces, filter_rows, share, meridian, links and projector, which
 * may be NULL.
 *
 * Arguments were checked by the public interface and by the plan.  Slots of different stages are
 * called by different threads at the same time.  A slot that returns fbp_status sets a message
 * (fbp_fail()) if it fails.
 */

struct fbp_job;
struct fbp_projector;

/** Sets [*r0, *r1) to the detector rows that slices [z0, z1) of the grid need in views [k0, k1). */
typedef void fbp_rows_fn(const struct fbp_job *job, size_t k0, size_t k1, size_t z0, size_t z1,
                         size_t *r0, size_t *r1);

/** The kernel (backprojection algorithm) of a job. choose() sets all members but `requested`. */
struct fbp_kernel_selection {
    const char *requested;  /**< kernel that the user requested; NULL: the fastest */
    const char *name, *isa; /**< names of kernel and instruction set, for messages */
    const void *entry; /**< private data of the backend: the description of the selected kernel */
    size_t symmetric_views; /**< number of views, evenly spaced over the circle, that the kernel
                               processes together (views.h): 1, 2 or 4; default 1 */
    bool boxes;             /**< the kernel can compute a box of voxels; false: whole slices */
    bool whole_views; /**< batches contain all rows of their views; false: rows that the slab needs
                       */
    size_t more_rows; /**< detector rows that the kernel needs on either side of those onto which
                         slices project */
    size_t group_views; /**< every batch except the last has a multiple of this number of views; 0:
                           can.group_views */
    size_t depth;       /**< slices per block of the kernel: fewer take as long; 0: any number */
};

/** Detector of the filtered rows. An offset panel reaches farther to one side of the axis, and the
 * ramp filter spreads values to columns that the panel lacks: rows are padded with these until the
 * detector is symmetric. Measured column c becomes column (inserted + 1) c + left; columns without
 * a measured sample are 0 before the filter. */
struct fbp_padded_detector {
    struct fbp_panel panel;
    size_t left;     /**< columns before the first measured one */
    size_t inserted; /**< columns between measured columns, for oversampling */
};

/** Voxels that the user requested. A device need not compute others: they may have any value. */
struct fbp_requested_voxels {
    size_t box[3][2];                /**< requested voxels [first, end) along x, y, z; end 0: all */
    const struct fbp_region *region; /**< region within the box; NULL: all voxels */
};

/** Part of the volume that this process computes, if several processes compute one volume. */
struct fbp_job_part {
    size_t slices[2]; /**< slices [first, end) that this process computes, counted from the first
                         requested slice (pipeline/division.h); end 0: all */
    size_t slices_per_file; /**< number of slices that share chunk files: parts begin at multiples
                               of it, if possible; 0: anywhere */
    bool counts_once;       /**< repairs of rows that an earlier part also needs are counted by the
                               process of that part */
    /** Groups [first, end) of views that this process backprojects, fbp_group_views() views each;
     * end 0: all. Other processes backproject the other groups, and the partial volumes are added.
     */
    size_t view_groups[2];
};

/** How the source of views has to be read. */
struct fbp_job_input {
    enum fbp_type type; /**< type of raw samples: FBP_U16 or FBP_F64; any other value: float */
    bool filtered;      /**< the source contains weighted and filtered views: filter() only replaces
                           samples that are not finite, and stores the rows in the device's layout */
    bool in_order; /**< views and rows must be read in ascending order, as from a compressed file */
    bool unpacks;  /**< reading decodes or computes samples: several threads read faster than one */
    int most_readers; /**< greatest number of threads per device that read views; 0: no limit */
};

/** Corrections, weights and filters that are applied to raw samples before backprojection. */
struct fbp_filtering {
    const struct fbp_prep *prep;            /**< corrections of raw samples */
    const fbp_weights *weights;             /**< NULL if the views are filtered already */
    const struct fbp_filter_design *design; /**< NULL if the views are filtered already */
    /** Filter along detector columns, applied after the weights; NULL: none. */
    const struct fbp_column_filter *columns;
    /** extrapolation of truncated rows, which is added to the filtered rows; NULL: none */
    const struct fbp_pad *pad;
    bool spatial; /**< rows are convolved in space on request, not by FFT */
};

/**
 * Sinogram images of meridian planes, the result of the first of two stages.
 *
 * Filtered plane integrals whose directions lie in one plane (a meridian plane) do not vary
 * perpendicular to it.  They are therefore summed once, to an image of that plane, instead of once
 * per voxel:
 *
 *     image(c, r) = sum_k value(view_k, at[k][0] + c at[k][1] + r at[k][2]),  k: views of the plane
 *
 * with the job's interpolation (linear by default).  The images are filtered parallel views about
 * the axis that the planes share; the second stage backprojects them.
 */
struct fbp_meridian_images {
    size_t n_planes, n_columns, n_rows; /**< number of images; size of each */
    size_t n_views;  /**< number of filtered views, which are sorted by meridian plane */
    size_t *first;   /**< [n_planes + 1] plane p has views [first[p], first[p + 1]) */
    double (*at)[3]; /**< [n_views] the view's column at image sample (0, 0), its change per image
                        column and per image row */
};

/** Part of a sinogram image that is computed at once: rows [row0, row0 + n_rows) of the image of
 * meridian plane `plane`, in channel `channel`. */
struct fbp_image_rows {
    size_t plane, channel, row0, n_rows;
};

/** Plane integrals (EPR imaging). */
struct fbp_job_epr {
    /** Interpolation between samples of a filtered row.  With FBP_INTERPOLATION_CUBIC the samples
     * are spline coefficients (filter/parabola.h); coefficients beyond the row's ends are 0. */
    enum fbp_interpolation interpolation;
    /** If the job is the first of two stages: the sinogram images to which filtered views are
     * summed; no volume is computed.  NULL: filtered views are backprojected. */
    const struct fbp_meridian_images *images;
    bool second_stage;    /**< second of two stages: views are sinogram images */
    bool rows_are_slices; /**< second of two stages: row r of images contributes to slice r only */
};

/** Everything about one reconstruction that does not change while it runs; read only. */
struct fbp_job {
    enum fbp_kind kind;           /**< kind of the scan geometry */
    size_t n_views;               /**< views of the scan */
    const struct fbp_view *views; /**< [n_views] */
    /** [n_views] 3x4 projection matrices, row-major, from mm to columns and rows of detector
     * `padded`.  The homogeneous coordinate w (depth) of the origin is 1 or, if the scan gives
     * depths (for filtered views only), fbp_scan.depths[k]. */
    double (*matrices)[12];
    struct fbp_geometry_facts facts;
    fbp_rows_fn *rows; /**< computes the detector rows that slices need */
    bool sparse;       /**< true: the projections of two neighbouring slices may be more than one
                          detector row apart, so that no slice needs the rows in between */
    struct fbp_panel panel;            /**< detector as measured */
    struct fbp_padded_detector padded; /**< detector of the filtered rows */
    /** Number of channels: volumes that are reconstructed together from plane integrals, volume i
     * from row i of each view; 0, 1: one volume from all rows.  Channels share all other members of
     * this struct; no voxel of a channel depends on another channel. */
    size_t channels;
    /** Number of time points (volumes reconstructed one after another); a view has panel.n_rows
     * rows for each; 0, 1: one volume. Only the pipeline uses it. */
    size_t time_points;
    struct fbp_grid grid; /**< grid of the whole volume, even if only a box of it is requested */
    struct fbp_requested_voxels requested;
    double scale, shift; /**< output voxel = scale * value [1/mm; planes: 1/mm^3] + shift */
    struct fbp_job_part part;
    struct fbp_job_input input;
    struct fbp_filtering filtering;
    struct fbp_job_epr epr;
    enum fbp_precision precision;
    struct fbp_kernel_selection selection; /**< set by fbp_job_arrange() */
    int n_threads;
};

/** Returns whether raw samples, filtered rows, slabs and fetched slices are double (`input.type` is
 * FBP_F64); if not, all of them are float, except that raw samples may be uint16. */
static inline bool fbp_in_double(const struct fbp_job *job)
{
    return job->precision == FBP_PRECISION_DOUBLE;
}

/** Returns the type of a voxel, and of a raw sample that is not uint16: float or double. */
static inline enum fbp_type fbp_value_type(const struct fbp_job *job)
{
    return fbp_in_double(job) ? FBP_F64 : FBP_F32;
}

/** Returns the bytes of a voxel, and of a raw sample that is not uint16. */
static inline size_t fbp_value_size(const struct fbp_job *job)
{
    return fbp_in_double(job) ? sizeof(double) : sizeof(float);
}

/** Number of channels, at least 1. */
static inline size_t fbp_channels(const struct fbp_job *job)
{
    return job->channels > 1 ? job->channels : 1;
}

/** Number of time points (volumes that are reconstructed one after another), at least 1. */
static inline size_t fbp_time_points(const struct fbp_job *job)
{
    return job->time_points > 1 ? job->time_points : 1;
}

/** Number of all volumes of a job. */
static inline size_t fbp_volumes(const struct fbp_job *job)
{
    return fbp_time_points(job) * fbp_channels(job);
}

/** Views that are filtered and backprojected together.  The scan consists of
 * job->selection.symmetric_views equal parts of the circle.  A batch has n_views / symmetric_views
 * consecutive views of each part, part after part: the views of the first part begin at view0, the
 * views of another part at the same position in that part. */
struct fbp_batch {
    /** view0: first view in the first part of the circle; n_views: number in all parts */
    size_t view0, n_views;
    /** detector rows [row0, row0 + n_rows) of each view, which are filtered */
    size_t row0, n_rows;
    /** detector rows [load_row0, load_row0 + load_rows) that are read: more than the filtered rows
     * if corrections of bad pixels or a filter along columns need neighbours */
    size_t load_row0, load_rows;
    /** views before the batch in the buffer, per part of the circle; 0 unless `resident` */
    size_t position;
    bool resident;     /**< the buffer keeps all filtered views: batches have the same rows */
    size_t time_point; /**< time point (index of the volume in a series) of the batch's rows */
};

/** A part of the volume that is computed at once: voxels [x0, x0 + nx) and [y0, y0 + ny) of slices
 *  [z0, z0 + nz) of the grid, in one time point and in all channels. */
struct fbp_slab {
    size_t x0, nx, y0, ny, z0, nz;
    size_t time_point; /**< time point (index of the volume in a series) of the slab */
};

/** Stages of a device's work: upload, filter, backprojection, fetch.  Tasks of one stage run in
 * order; tasks of different stages may run concurrently. */
enum fbp_stage { FBP_STAGE_IN = 0, FBP_STAGE_FILTER, FBP_STAGE_BP, FBP_STAGE_OUT, FBP_N_STAGES };

/** A point in the work of a stage. */
struct fbp_event {
    enum fbp_stage stage;
    uint64_t ticket; /**< number of the event; 0: all work before it is already done */
};

/** Contents of a buffer of device memory: raw samples of a batch, filtered views, or a slab. */
enum fbp_purpose { FBP_FOR_RAW = 0, FBP_FOR_FILTERED, FBP_FOR_VOLUME };

/** The purpose as the subject of a message. */
static inline const char *fbp_purpose_name(enum fbp_purpose purpose)
{
    static const char *const names[] = {"a batch of views", "a batch of filtered views",
                                        "a slab of the volume"};

    return names[purpose];
}

struct fbp_buffer {
    enum fbp_purpose purpose;
    size_t bytes;
    /** numbers of views and of rows of the largest batch that the buffer holds; 0 for a volume */
    size_t n_views, n_rows;
};

/** Approximate durations of a device's work, from which the plan predicts the time of a
 * reconstruction for given sizes of slabs and batches. */
struct fbp_rates {
    double upload, fetch; /**< seconds per byte that upload(), or fetch(), copies */
    double filter;        /**< seconds per sample of filter() */
    double update;        /**< seconds of backproject() per voxel and view; 0: no rate is known */
    double call;   /**< additional seconds per call of backproject(), because its last thread blocks
                      do not fill the device */
    double share;  /**< seconds per byte of filtered views copied from another device */
    double copy;   /**< seconds per byte copied within the device's memory; 0: unknown */
    double voxel;  /**< additional seconds per voxel and call of backproject(), for loading and
                      storing the voxel's sum; 0: `update` includes them */
    double slices; /**< fixed cost of a call of backproject(), in slices that take equally long */
    bool serial;   /**< can.serial of the backend; set by fbp_work_rates() */
};

/**
 * One bit per detector row and view: rows whose repaired samples have not been counted yet.
 *
 * A row may be read once per slab, and rows next to the needed ones are also read.  The number of
 * repaired samples must not depend on that: before a device counts the samples that it repaired in
 * a row, it clears the bit of that row, and it counts them only if the bit was set.  Rows without
 * repaired samples keep their bits.
 */
struct fbp_row_bitmap {
    size_t n_views, n_rows;
    unsigned *bits; /**< bit view * n_rows + row is 1 if repaired samples of that row of that view
                       were not counted yet; NULL: they are counted each time the row is read */
};

enum { FBP_ROW_BITMAP_BITS = 32 }; /**< rows per word of `bits` */

/** Number of words of `bits`. */
static inline size_t fbp_row_bitmap_words(size_t n_views, size_t n_rows)
{
    return (n_views * n_rows + FBP_ROW_BITMAP_BITS - 1) / FBP_ROW_BITMAP_BITS;
}

/** Minimum, maximum and sum of fetched voxels. */
struct fbp_statistics {
    double min, max, sum;
};

/** An open device; each backend defines its own struct. */
typedef struct fbp_device fbp_device;

/** Functions that find a backend's usable devices. why[n]: reason of a failure, for the user. */
struct fbp_discovery {
    /** Loads the backend's module (shared library) and returns its table, or NULL and the reason in
     * `why`. Pointer NULL: the backend is part of the library. */
    const struct fbp_backend *(*load)(char *why, size_t n);
    /** Number of devices; if none is usable, 0 and the reason in `why`. NULL: always 1. */
    int (*count)(char *why, size_t n);
    /** Returns whether device selection `auto` may select device `index`; index -1, before load():
     * whether any device may exist.  Pointer NULL: always true. */
    bool (*auto_selectable)(int index);
    /** Sets members of *out: text, memory size, and others of device `index`.  Pointer NULL: *out
     * stays unchanged; its text is then the backend's summary. */
    void (*describe)(int index, struct fbp_device_info *out);
};

/** Kinds of jobs (reconstructions) that the devices of a backend can compute. */
struct fbp_capabilities {
    bool precisions;  /**< several precisions; false: job->precision matters only if it is double */
    bool counts;      /**< raw samples may be uint16 */
    bool oversamples; /**< columns may be inserted between measured ones */
    bool channels;    /**< jobs may have several channels */
    bool periodic;    /**< row filters may be periodic (struct fbp_filter_design) */
    bool any_filter;  /**< row filters may have two passes or asymmetric convolution kernels */
    bool doubles;     /**< jobs may be in double: fbp_in_double() */
    unsigned interpolations; /**< interpolations besides linear: bits 1 << enum fbp_interpolation */
    /** Number of views per group, a multiple of 4.  Batches consist of whole groups: the number of
     * views of every batch except the last is a multiple of group_views, or of the selected
     * kernel's number (fbp_group_views()). */
    size_t group_views;
    size_t max_resident_views; /**< greatest number of filtered views per part of the circle in a
                                  buffer; 0: no limit, but never kept for several slabs */
    bool serial; /**< copies of a device take time of its kernels: small batches hide few of them */
    /** The members from here on are set by fbp_backend_complete(); a backend leaves them unset. */
    bool own_memory; /**< devices have memory of their own: memory.alloc exists */
    bool shares;     /**< devices copy filtered views from one another: function `share` exists */
    bool filtered_rows;   /**< filtered rows are available as floats: filter_rows exists */
    bool meridian_images; /**< computes sinogram images (first of two stages): meridian exists */
    bool statistics; /**< the device computes statistics of voxels: function `statistics` exists */
};

/** Memory of a device, and host memory that it can copy from and to. */
struct fbp_memory_slots {
    /** Allocates host memory with which the device can copy while it computes (pinned memory).
     * what: purpose, for an error message. host_alloc and host_release NULL: ordinary memory. */
    fbp_status (*host_alloc)(fbp_device *dev, size_t bytes, const char *what, void **out);
    void (*host_release)(fbp_device *dev, void *mem);
    /** Returns whether the device can copy from and to `bytes` bytes at `host`, which the caller of
     * the library owns: memory of the host or of this device.  Pointer NULL: never. */
    bool (*reaches)(fbp_device *dev, const void *host, size_t bytes);

    /** Allocate and free device memory. alloc, release and upload NULL: it is host memory. */
    fbp_status (*alloc)(fbp_device *dev, const struct fbp_buffer *buffer, void **out);
    void (*release)(fbp_device *dev, enum fbp_purpose purpose, void *mem);
    /** Copies n_samples raw samples to device memory dst (stage IN). */
    fbp_status (*upload)(fbp_device *dev, void *dst, const void *src, size_t n_samples);
    /** Copies n pieces of n_samples samples each to dst without gaps (stage IN). In src, for which
     * reaches() is true, they begin `stride` samples apart. NULL if reaches() is NULL. */
    fbp_status (*upload_pieces)(fbp_device *dev, void *dst, const void *src, size_t n,
                                size_t n_samples, size_t stride);
    /** Copies to `host` n floats that filter_rows() has computed (stage OUT).  Pointer NULL:
     * memcpy(), because device memory is host memory. */
    fbp_status (*download)(fbp_device *dev, const float *rows, size_t n, float *host);
    /** Access to device memory of callers of the library; NULL: they cannot pass any. */
    const struct fbp_device_memory_access *of_caller;
};

/** Events that order the work of stages and of the host, and timestamps for a timeline. record,
 * stage_wait and host_wait NULL: each function of the device returns when its work is done.
 * timestamp and seconds NULL: a timestamp is the host's time when timestamp() is called. */
struct fbp_event_slots {
    /** Sets *out to an event that is reached when all queued work of a stage is done. */
    fbp_status (*record)(fbp_device *dev, enum fbp_stage stage, struct fbp_event *out);
    /** Work that is queued in `stage` from now on starts after the event. */
    fbp_status (*stage_wait)(fbp_device *dev, enum fbp_stage stage, struct fbp_event event);
    /** Waits until the event is reached; returns the first failure of the event's stage. */
    fbp_status (*host_wait)(fbp_device *dev, struct fbp_event event);
    /** Queues a timestamp after the work in a stage so far; *out identifies it. */
    fbp_status (*timestamp)(fbp_device *dev, enum fbp_stage stage, uint64_t *out);
    /** Converts a timestamp to the clock of fbp_seconds(); called once, after its work is done. */
    fbp_status (*seconds)(fbp_device *dev, uint64_t timestamp, double *seconds);
};

/** Count the samples that filter() repaired. Both pointers NULL: none are counted. */
struct fbp_repair_slots {
    /** From the next filter() on, repaired samples are counted only in rows whose bits are set, and
     * the bit of a counted row is cleared; bitmap->bits NULL (set at the end of a run): all rows
     * are counted, each time.  The caller keeps the bits allocated until the next call and may
     * change them just before it; a backend with queues must therefore copy them. */
    fbp_status (*set_bitmap)(fbp_device *dev, const struct fbp_row_bitmap *bitmap);
    /** Samples repaired since open(); called when all events of stage FILTER were reached. */
    fbp_status (*counts)(fbp_device *dev, struct fbp_prep_counts *out);
};

/** The host as an end of a copy. */
enum { FBP_HOST = -1 };

/** Greatest number of devices whose links are measured together. */
enum { FBP_MOST_LINKED = 16 };

/** Repeated copies from one memory to another. from, to: index in the list of devices of open(), or
 * FBP_HOST (host memory near the device at the other end). All flows that are measured together
 * copy equal sizes. */
struct fbp_flow {
    int from, to;
};

/** Functions that measure copy rates between memories of host and devices, for sets of simultaneous
 * copies.  pipeline/links.c decides which sets are measured, and stores the rates. */
struct fbp_link_meter {
    /** Bytes of host memory and of device memory that open() allocates per device. */
    size_t host_bytes, device_bytes;
    /** Writes a text that identifies the device, its position in the machine and its driver,
     * without tabs and line ends.  Returns false if they are unknown. */
    bool (*identify)(int index, char *out, size_t n);
    /** Prepares measurements between n different devices. *out is NULL on failure. */
    fbp_status (*open)(void **out, const int *devices, size_t n);
    void (*close)(void **meter);
    /** Enables direct copies from one device to another.  Returns false if direct copies are
     * impossible, or if a test copy arrives with wrong values. */
    bool (*connect)(void *meter, size_t from, size_t to);
    /** Measures n simultaneous flows; *out: the sum of their rates in bytes per second.  Flows
     *  between devices need connect() first.  Each device may be part of at most one flow from the
     * host, one flow to the host, and one flow to another device. */
    fbp_status (*rate)(void *meter, const struct fbp_flow *flows, size_t n, double *out);
};

/** One kind of device. */
struct fbp_backend {
    const char *name, *summary; /**< name, as in --device; summary, one line for lists of devices */
    bool in_host; /**< device memory is host memory, and limits of host memory include it; default:
                     true if there is no `memory.alloc` */
    bool hidden;  /**< not listed nor selected by "auto"; for tests, predictions */
    struct fbp_discovery discovery;
    struct fbp_capabilities can;

    /** Writes a remark for the user on how a job is computed, or "". Pointer NULL: "". */
    void (*remark)(const struct fbp_job *job, char *line, size_t n);
    /** Sets job->selection to the kernel `name`; NULL: to the fastest usable one. Returns false if
     * no such kernel can compute the job. The choice depends on scan and volume, never on slabs.
     * Pointer NULL: only kernel "matrix", for single views and whole slices. */
    bool (*choose)(struct fbp_job *job, const char *name);

    /** filtered_bytes() and volume_bytes() return the bytes of filtered views [n_views][n_rows],
     * and of a slab, in the device's layout.  These functions, and those below that take a
     * job, are called after the kernel of the job was selected. */
    size_t (*filtered_bytes)(const struct fbp_job *job, size_t n_views, size_t n_rows);
    size_t (*volume_bytes)(const struct fbp_job *job, const struct fbp_slab *slab);
    /** Bytes of device memory for tables and scratch, besides buffers. Pointer NULL: 0. */
    size_t (*fixed_bytes)(const struct fbp_job *job);
    /** Returns whether a device can allocate a buffer of this size, however much memory is free;
     * for buffer NULL, whether it can allocate the memory that the job needs in addition to
     * buffers. If not, `why` receives the reason.  Pointer NULL: always true. */
    bool (*holds)(int index, const struct fbp_job *job, const struct fbp_buffer *buffer, char *why,
                  size_t n);
    /** Sets *out to approximate times. Pointer NULL: unknown; the plan uses the fewest slabs. */
    void (*rates)(const struct fbp_job *job, struct fbp_rates *out);

    /** Opens a device for one job, which must outlive it. *out is NULL on failure. */
    fbp_status (*open)(fbp_device **out, int index, const struct fbp_job *job);
    /** Finishes all work, frees the device and sets *dev to NULL. */
    void (*close)(fbp_device **dev);
    struct fbp_memory_slots memory;
    struct fbp_event_slots event;
    struct fbp_repair_slots repair;

    /** Corrects, weights and filters raw [n_views][load_rows][panel.n_columns] (stage FILTER) and
     * writes rows of padded.panel.n_columns to the buffer that starts at `filtered`, after the
     * first batch->position views.  `raw` may be overwritten; backends without own memory
     * change only the samples that preparation or a filter along v changes. */
    fbp_status (*filter)(fbp_device *dev, const struct fbp_batch *batch, void *raw, void *filtered);
    /** Corrects, weights and filters a batch like filter(), but writes plain rows: float
     * [n_views][n_rows][padded.panel.n_columns], in memory for FBP_FOR_RAW. NULL: not supported. */
    fbp_status (*filter_rows)(fbp_device *dev, const struct fbp_batch *batch, void *raw,
                              float *rows);
    /** Copies a batch of filtered views from `theirs`, a buffer of another device of this backend,
     * to its place in `filtered` (stage OUT). Thread-safe. NULL: not supported. */
    fbp_status (*share)(fbp_device *dev, const struct fbp_batch *batch, void *filtered,
                        fbp_device *from, const void *theirs);
    /** First of two stages: computes rows of a sinogram image (`picture`) of job->epr.images from
     * one channel of the filtered views, sorted by meridian plane, to host memory: float or double
     * [n_rows][n_columns]. Returns when they are computed. Thread-safe. NULL: not supported. */
    fbp_status (*meridian)(fbp_device *dev, const void *filtered,
                           const struct fbp_image_rows *picture, void *out);
    /** Sets a slab to zero (stage BP). */
    fbp_status (*clear)(fbp_device *dev, const struct fbp_slab *slab, void *volume);
    /** Adds a batch of views to slices [z0, z1) of a slab (stage BP). Bits of a voxel must not
     * depend on the slab: coordinates are computed from voxel indices of the whole grid. */
    fbp_status (*backproject)(fbp_device *dev, const struct fbp_batch *batch, const void *filtered,
                              const struct fbp_slab *slab, size_t z0, size_t z1, void *volume);
    /** Copies slices [z0, z1) of a slab, times job->scale plus job->shift, to host float or double
     *  [channels][z1 - z0][slab->ny][slab->nx] (stage OUT). */
    fbp_status (*fetch)(fbp_device *dev, const struct fbp_slab *slab, size_t z0, size_t z1,
                        const void *volume, void *host);
    /** Returns the statistics of all voxels fetched since the last call; called when all work of
     * the device is done.  Pointer NULL: the pipeline computes the statistics on the host. */
    fbp_status (*statistics)(fbp_device *dev, struct fbp_statistics *out);

    /** Functions that measure copy rates between memories.  NULL: there are no links to measure. */
    const struct fbp_link_meter *links;
    /** Computes maximum intensity projections of volumes, for pictures; NULL: not supported. */
    const struct fbp_projector *projector;
};

/** Number of views of which batches of a job are multiples. */
static inline size_t fbp_group_views(const struct fbp_backend *backend, const struct fbp_job *job)
{
    return job->selection.group_views ? job->selection.group_views : backend->can.group_views;
}

/** All backends, without defaults for missing functions, in the order of preference; then NULL. */
extern const struct fbp_backend *const fbp_backends[];

/** Returns the backend of this name, with defaults for missing functions; its table entry if its
 * module cannot be loaded; NULL if no backend has the name. */
const struct fbp_backend *fbp_backend_find(const char *name);

/** Loads *backend if it is a module, and returns the number of its devices; 0, with the reason in
 * `why`, if none is usable. If it was loaded, *backend becomes a copy with defaults for missing
 * functions. */
int fbp_backend_count(const struct fbp_backend **backend, char *why, size_t n);

/** Returns name i, from 0, that fbp_recon_params.device may have: "auto", then the kinds of devices
 * in this build, usable on this machine or not; NULL beyond the last. */
const char *fbp_device_name(size_t i);

/** Returns name i, from 0, that fbp_recon_params.tuning.kernel may have: "matrix", "column" …; NULL
 * beyond the last.  A device has only some of the kernels. */
const char *fbp_kernel_name(size_t i);

#endif /* FBP_SRC_BACKEND_H */
