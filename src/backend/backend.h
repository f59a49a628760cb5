/** @file backend.h  THE vtable: what a device must be able to do (internal).
 *
 * The pipeline (pipeline/run.c) knows views, rows, batches and slabs, and nothing else: no scan
 * geometry, no kernel, no kind of memory.  A backend knows how to filter and backproject, and may
 * have memory and queues of its own.  The data on its way:
 *
 *     host float [view][row][column], or uint16               read by pipeline/stage_read.c
 *       | upload (IN)
 *     raw        device copy of the same; counts become floats there (backend/rows.h)
 *       | filter (FILTER): prep, weight, filter
 *     filtered   device layout, `filtered_bytes` a batch
 *       | backproject (BP), batch after batch, into
 *     volume     device layout, `volume_bytes` a slab
 *       | fetch (OUT)
 *     host float [frame][z][y][x]                             written by array/sink.c
 *
 * A backend leaves out the slots (and facts) that it has nothing to say to: the line beside each
 * says what "NULL" then means.  Callers see a completed copy (backend/device.h), in which every
 * slot but `load` is there.  Every slot returns a status and is called with arguments that src/api
 * and the plan have checked.
 */
#ifndef FBP_SRC_BACKEND_H
#define FBP_SRC_BACKEND_H

#include "fbp/recon.h"

#include "array/device_memory.h"
#include "backend/ledger.h"
#include "backend/meridian.h"
#include "base/threads.h"
#include "filter/filter.h"
#include "geometry/volume.h"
#include "prep/prep.h"
#include "weight/weight.h"

struct fbp_job;
struct fbp_link_meter;
struct fbp_projector;

/** Detector rows [*r0, *r1) that slices [z0, z1) need of views [k0, k1). */
typedef void fbp_rows_fn(const struct fbp_job *job, size_t k0, size_t k1, size_t z0, size_t z1,
                         size_t *r0, size_t *r1);

/** The kernel that computes a job: set by the backend's choose(). */
struct fbp_kernel_selection {
    const char *kernel, *isa; /**< names of kernel and instruction set, for people */
    const void *own;          /**< what the backend knows it by */
};

/** Everything about one reconstruction that does not change while it runs.  Shared, read only. */
struct fbp_job {
    enum fbp_kind kind;
    size_t n_views;
    struct fbp_panel panel; /**< as measured */
    size_t frames; /**< volumes that are made of these views, frame f of their rows f; 0, 1: one of
                        all rows.  Frames share all that follows, and none has a bit of another */
    size_t series; /**< volumes that are made one after another, each of a panel of its own: they
                        lie one behind the other in a view of the source; 0, 1: one.  Devices
                        compute one at a time and do not know of it; fbp_slab.frame */
    /** The panel that is filtered and backprojected.  Of an offset panel only one side was
     * measured; the ramp carries its values over to the other, so rows are widened until it is
     * symmetric. Column c as measured is column c + pad_left here; where filtered samples are
     * wanted between those measured, of which there are `between` after each, column
     * (between + 1) c, and what lies between is 0 before the filter. */
    struct fbp_panel wide;
    size_t pad_left, between;
    struct fbp_grid grid; /**< the whole volume, whatever is asked for of it */
    size_t roi[3][2];     /**< the box asked for, pipeline/job.h; ends 0: all */
    /** Voxels of that box that are wanted, others may have any value; NULL: all are. */
    const struct fbp_region *region;
    size_t share[2];   /**< Slices that this process computes: [first, end), counted from the first
                            wanted one (pipeline/division.h); end 0: all. */
    size_t same_files; /**< so many slices of the box lie in the same files of the output, and are
                            best one process's; 0: any cut will do */
    bool counts_once;  /**< what is mended in rows that earlier shares need is counted by theirs */
    /** Groups of views (fbp_backend.group_views) that are backprojected here: [first, end); end 0:
     *  all.  Processes that have the others add up what they get. */
    size_t view_groups[2];
    const struct fbp_view *views;
    /** One a view, row-major, columns of `wide`; scaled to w(0) = 1, or of filtered views to the
     * w(0) that belongs to their values. */
    double (*matrices)[12];
    const fbp_weights *weights;
    const struct fbp_prep *prep;
    const struct fbp_filter_design *filter;
    const struct fbp_column_filter
        *columns;              /**< weighted views pass it first; NULL: there is none */
    const struct fbp_pad *pad; /**< what is added to filtered rows; NULL: nothing */
    struct fbp_geometry_facts facts;
    fbp_rows_fn *rows;   /**< the one thing the pipeline asks of a geometry */
    bool sparse;         /**< slices so far apart that no slice may need some rows between two */
    double scale, shift; /**< output = scale * value + shift (HU); 1, 0 otherwise */
    enum fbp_precision precision;
    enum fbp_interpolation interpolation; /**< of plane integrals; of CUBIC, filtered rows are
                                           coefficients (filter/parabola.h), 0 beyond their ends */
    const char *kernel; /**< the one asked for; NULL = the fastest that can be used */
    enum fbp_type raw;  /**< of raw samples: FBP_U16, FBP_F64, or anything else for float */
    bool spatial_filter;
    /** Views come weighted and filtered, and are only laid out; weights and filter are NULL. */
    bool filtered;
    bool in_order;    /**< views and rows are to be read in order: the scan is compressed */
    bool unpacks;     /**< samples are decoded as they are read, by several threads at once */
    int most_readers; /**< of these, a worker: who unpacks keeps as many views; 0: any number */
    struct fbp_kernel_selection chosen; /**< from fbp_job_arrange() on, as are: */
    size_t turns; /**< views that the kernel takes together, see backend/partners.h: 1, 2, 4 */
    bool boxes;   /**< it computes boxes of slices, and not whole ones only */
    int n_threads;
    /** Filtered views are not for the volume, but for pictures: `meridian`.  NULL: they are. */
    const struct fbp_meridian_pictures *pictures;
    bool second;          /**< views are pictures of a first stage */
    bool rows_are_slices; /**< ... and row r of them is slice r of the volume */
    void *user;           /**< for tests that plug in a geometry of their own */
};

/** Are samples and voxels double where they are float else: raw ones, filtered rows, slabs, and the
 *  slices that are fetched?  `raw` is FBP_F64 then. */
static inline bool fbp_in_double(const struct fbp_job *job)
{
    return job->precision == FBP_PRECISION_DOUBLE;
}

/** Bytes of a voxel, and of a sample that is no count. */
static inline size_t fbp_value_size(const struct fbp_job *job)
{
    return fbp_in_double(job) ? sizeof(double) : sizeof(float);
}

/** Of a job: volumes that are made of its views. */
static inline size_t fbp_frames(const struct fbp_job *job)
{
    return job->frames > 1 ? job->frames : 1;
}

/** Of a job: volumes that are made one after another. */
static inline size_t fbp_series(const struct fbp_job *job)
{
    return job->series > 1 ? job->series : 1;
}

/** Of a job: all of its volumes. */
static inline size_t fbp_volumes(const struct fbp_job *job)
{
    return fbp_series(job) * fbp_frames(job);
}

/** n_views / turns views from view0 on, and as many of each further part of the scan; and the
 *  detector rows [row0, row0 + n_rows) of them that are filtered.  Rows [load_row0, load_row0 +
 *  load_rows) are read: a few more, if bad pixels or a filter along columns need them. */
struct fbp_batch {
    size_t view0, n_views;
    size_t row0, n_rows;
    size_t load_row0, load_rows;
    size_t place; /**< views of a part that lie before it in its buffer of filtered views */
    bool kept;    /**< used again: all batches of that buffer have the same rows */
    size_t frame; /**< of a series: whose panel these rows are of */
};

/** A part of the volume that is computed at once: voxels [x0, x0 + nx) and [y0, y0 + ny) of the
 *  grid's slices [z0, z0 + nz); of all frames, one behind the other, or of volume `frame` of a
 *  series. */
struct fbp_slab {
    size_t x0, nx, y0, ny, z0, nz;
    size_t frame;
};

/** Orders of work on a device.  Work of one queue runs in order; queues run side by side. */
enum fbp_stage { FBP_STAGE_IN = 0, FBP_STAGE_FILTER, FBP_STAGE_BP, FBP_STAGE_OUT, FBP_N_STAGES };

/** A point in a stage's order of work; zero = long past. */
struct fbp_event {
    enum fbp_stage stage;
    uint64_t ticket;
};

/** What a piece of device memory is for: a batch of `n_views` views of `n_rows` rows, read or
 *  filtered, or a slab. */
enum fbp_purpose { FBP_FOR_RAW = 0, FBP_FOR_FILTERED, FBP_FOR_VOLUME };

struct fbp_buffer {
    enum fbp_purpose purpose;
    size_t bytes;
    size_t n_views, n_rows; /**< of the largest batch it holds; 0 for a volume */
};

/** What work takes, roughly: for choosing between divisions of it. */
struct fbp_rates {
    double upload, fetch; /**< seconds a byte */
    double filter;        /**< a sample */
    double update;        /**< a voxel and view; 0: nothing is known */
    double call;  /**< more of every backprojection: its last blocks do not fill the device */
    double share; /**< a byte of filtered views that is copied from another device */
    double copy;  /**< a byte from one place in its memory to another; 0: not known */
};

/** Least, most and sum of the voxels that were fetched. */
struct fbp_statistics {
    double min, max, sum;
};

typedef struct fbp_device fbp_device;

struct fbp_backend {
    const char *name, *summary;
    bool in_host; /**< its memory is the host's, and counts as such; set where it has no own */
    bool hidden;  /**< not shown to users, nor chosen by itself: for tests, for plans */

    /** The backend itself, where it is in a module that is loaded when first asked for; NULL with
     *  the sentence in `why` if that cannot be used.  NULL: this is it. */
    const struct fbp_backend *(*load)(char *why, size_t n);

    /** How many devices can be used; if 0, `why` gets the sentence.  NULL: always one. */
    int (*count)(char *why, size_t n);
    /** May `auto` take the device of this index?  Index -1 asks before `load`: may there be such a
     *  device?  NULL: yes. */
    bool (*unasked)(int index);
    /** Text and memory of a device.  NULL: the summary. */
    void (*describe)(int index, struct fbp_device_info *out);

    /** The kernels differ in precision; false: `job->precision` changes nothing. */
    bool has_precisions;
    /** One line that the user should know about how this job will be computed; "" for none.
     *  NULL: none. */
    void (*remark)(const struct fbp_job *job, char *line, size_t n);

    /** Set job->chosen, ->turns and ->boxes: to the kernel of this name, false if there is none
     * that takes the job; or, name NULL, to the fastest of all.  Decided from scan and volume
     * alone, never per slab.  NULL: there is only "matrix", of one view and slice. */
    bool (*choose)(struct fbp_job *job, const char *name);

    /** Bytes of a filtered batch and of a slab in the device's own layout.  These slots and all
     *  below get a job whose kernel is chosen. */
    size_t (*filtered_bytes)(const struct fbp_job *job, size_t n_views, size_t n_rows);
    size_t (*volume_bytes)(const struct fbp_job *job, const struct fbp_slab *slab);
    /** Bytes of tables and scratch, beyond batches and slabs.  NULL: 0. */
    size_t (*fixed_bytes)(const struct fbp_job *job);
    /** Batches are a multiple of this many views, which is one of 4, anchored at view 0. */
    size_t group_views;
    bool takes_counts; /**< raw samples may be uint16 */
    bool oversamples;  /**< jobs may have samples between those measured: fbp_job.between */
    bool frames;       /**< jobs may have several: fbp_job.frames */
    bool periodic;     /**< filters may go round rows: struct fbp_filter_design */
    bool any_filter;   /**< filters may have two passes, and kernels that are not symmetric */
    bool doubles;      /**< jobs may be in double: fbp_in_double() */
    /** How it interpolates plane integrals, beside linearly: bits 1 << enum fbp_interpolation. */
    unsigned interpolations;
    /** Views of a part that a buffer of filtered views can hold; 0: filtered views are not kept. */
    size_t most_staying;
    /** Can a device have such a buffer at all, however much memory is free; or, buffer NULL, what
     *  the job needs beside buffers?  If not, `why` gets a sentence.  NULL: it can. */
    bool (*holds)(int index, const struct fbp_job *job, const struct fbp_buffer *buffer, char *why,
                  size_t n);
    /** NULL: nothing is known, and the fewest slabs are best. */
    void (*rates)(const struct fbp_job *job, struct fbp_rates *out);

    /** Memory of callers on its devices.  NULL: they can have none. */
    const struct fbp_device_memory_access *far;

    /** Open a device for one job.  NULL on failure. */
    fbp_status (*open)(fbp_device **out, int index, const struct fbp_job *job);
    void (*close)(fbp_device **dev);

    /** Host memory that this device copies from and to while it computes; `what` it is for, for a
     *  message.  NULL (both): any. */
    fbp_status (*host_alloc)(fbp_device *dev, size_t bytes, const char *what, void **out);
    void (*host_release)(fbp_device *dev, void *mem);
    /** Can it do so with this memory of the caller's, too, which may be the device's own (`far`)?
     *  NULL: with none. */
    bool (*reaches)(fbp_device *dev, const void *host, size_t bytes);

    /** Device memory.  NULL (all three): it is host memory, and an upload does nothing. */
    fbp_status (*alloc)(fbp_device *dev, const struct fbp_buffer *buffer, void **out);
    void (*release)(fbp_device *dev, enum fbp_purpose purpose, void *mem);
    fbp_status (*upload)(fbp_device *dev, void *dst, const void *src, size_t n_samples);
    /** n pieces of n_samples, `stride` samples apart in memory that the device reaches, into dst
     *  one after another.  NULL where `reaches` is, and never called. */
    fbp_status (*upload_pieces)(fbp_device *dev, void *dst, const void *src, size_t n,
                                size_t n_samples, size_t stride);

    /** raw [n_views][load_rows][panel.n_columns] to filtered, of `wide`.  raw may be overwritten.
     */
    fbp_status (*filter)(fbp_device *dev, const struct fbp_batch *batch, void *raw, void *filtered);
    /** The same, as plain rows: float [n_views][n_rows][wide.n_columns], in memory as for raw
     * floats (FBP_FOR_RAW).  NULL: cannot, see `gives_rows`. */
    fbp_status (*filter_rows)(fbp_device *dev, const struct fbp_batch *batch, void *raw,
                              float *rows);
    /** Rows [row0, row0 + n_rows) of picture `plane` of job->pictures as [n_rows][n_columns],
     *  floats or doubles, in the host's memory, from a frame of filtered views in the order of
     *  their planes.  Returns when it is done.  Thread-safe.  NULL: cannot, see
     *  `draws_meridians`. */
    fbp_status (*meridian)(fbp_device *dev, const void *filtered, const struct fbp_picture *picture,
                           void *out);
    /** n of these floats to the host, in the order of OUT.  NULL: they are there. */
    fbp_status (*download)(fbp_device *dev, const float *rows, size_t n, float *host);
    /** Filtered views of a batch that are kept on another device of this backend, whose filter is
     *  done, into the same place of this one's, in the order of OUT.  Thread-safe.  NULL: cannot,
     *  see `shares`. */
    fbp_status (*share)(fbp_device *dev, const struct fbp_batch *batch, void *filtered,
                        fbp_device *from, const void *theirs);
    /** Set a slab to zero. */
    fbp_status (*clear)(fbp_device *dev, const struct fbp_slab *slab, void *volume);
    /** Add a batch to slices [z0, z1) of a slab.  A voxel gets the same bits in whichever
     *  slab it lies: what is computed of it follows from its place in the grid. */
    fbp_status (*backproject)(fbp_device *dev, const struct fbp_batch *batch, const void *filtered,
                              const struct fbp_slab *slab, size_t z0, size_t z1, void *volume);
    /** Slices [z0, z1) of a slab as output, floats or doubles, scaled and shifted:
     *  host[job->frames][z1 - z0][slab->ny][slab->nx]. */
    fbp_status (*fetch)(fbp_device *dev, const struct fbp_slab *slab, size_t z0, size_t z1,
                        const void *volume, void *host);
    /** Of all that was fetched since the last call; all marks are past.  NULL: of none, the
     * pipeline looks at the voxels itself. */
    fbp_status (*statistics)(fbp_device *dev, struct fbp_statistics *out);

    /** Order between stages and with the host.  NULL (all three): slots return when work is done,
     *  and marks are past. */
    fbp_status (*mark)(fbp_device *dev, enum fbp_stage stage, struct fbp_event *out);
    fbp_status (*after)(fbp_device *dev, enum fbp_stage stage, struct fbp_event mark);
    fbp_status (*wait)(fbp_device *dev, struct fbp_event mark);

    /** The time when a stage comes to this point of its work, for a timeline.  NULL (both): the
     *  host's clock tells. */
    fbp_status (*stamp)(fbp_device *dev, enum fbp_stage stage, uint64_t *out);
    /** A stamp, once, as fbp_seconds(); it is past. */
    fbp_status (*stamped)(fbp_device *dev, uint64_t stamp, double *seconds);

    /** From the next `filter` on count what is mended in rows whose bits are there, and take them;
     *  bits NULL: every row counts.  The bits stay where they are until the next call, before which
     *  the caller may change them.  NULL: nothing is ever mended. */
    fbp_status (*expect)(fbp_device *dev, const struct fbp_row_bitmap *ledger);
    /** What the filter mended so far; all marks are past.  NULL: nothing. */
    fbp_status (*counts)(fbp_device *dev, struct fbp_prep_counts *out);

    /** Measures the links between memories.  NULL: there are none to measure. */
    const struct fbp_link_meter *links;
    /** Projects volumes, for pictures.  NULL: it does not. */
    const struct fbp_projector *projector;

    /** Facts that follow from what is given above; a backend leaves them alone. */
    bool own_memory;      /**< views are uploaded to it: `alloc` */
    bool shares;          /**< devices copy filtered views from one another: `share` */
    bool gives_rows;      /**< it gives filtered rows as they are: `filter_rows` */
    bool draws_meridians; /**< it has the first of two stages: `meridian` */
    bool has_statistics;  /**< it looks at voxels itself: `statistics` */
};

/** All backends as they are given, best last resort last; ended by NULL.  One line each in
 *  backend-list.h. */
extern const struct fbp_backend *const fbp_backends[];

/** Backend by name, completed and loaded if it can be; NULL. */
const struct fbp_backend *fbp_backend_find(const char *name);

/** How many of a backend's devices can be used; if 0, `why` gets the sentence.  *backend becomes
 *  the loaded and completed one. */
int fbp_backend_count(const struct fbp_backend **backend, char *why, size_t n);

#endif /* FBP_SRC_BACKEND_H */
