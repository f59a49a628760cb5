/** @file job.h  From a scan and parameters to the tables that backends share (internal). */
#ifndef FBP_SRC_JOB_H
#define FBP_SRC_JOB_H

#include "backend/backend.h"

/** A job and everything it points to, owned. */
struct fbp_job_tables {
    struct fbp_job job;
    struct fbp_view *views; /**< moved to the centre of their circle; NULL: the scan's */
    double centre_mm[3];    /**< the origin of `job`, in coordinates of the scan */
    struct fbp_prep prep;
    struct fbp_filter_design filter;
    struct fbp_column_filter columns;
    fbp_weights *weights;
    struct fbp_pad *pad;       /**< NULL: rows end with the panel */
    struct fbp_region *region; /**< NULL: all of the volume is wanted */
    char *region_file;         /**< that it was read from; NULL: none */
    enum fbp_pad_kind pad_kind;
    enum fbp_filter filter_name;
    double cutoff, cutoff_v; /**< cutoff_v 0: no window along columns */
    double wiener;           /**< of a deconvolution; 0: none */
    bool divided;            /**< by a spectrum */
    bool shaped;             /**< by a response of the caller's */
    enum fbp_angular_weights angular;
};

/** top_down: stored pictures start with the top row.  scan must outlive the tables.  Views and
 *  slices are taken one by one until fbp_job_arrange(). */
fbp_status fbp_job_create(struct fbp_job_tables *out, const struct fbp_scan *scan,
                          const struct fbp_recon_params *params, bool top_down);
void fbp_job_clear(struct fbp_job_tables *tables);

/**
 * Choose the backend's kernel, and arrange the job for it: job->chosen, ->turns and ->boxes.
 * FBP_ERR_UNSUPPORTED if one is asked for that the backend lacks or the scan does not allow; of
 * FBP_KERNEL=name (tests), the fastest then.
 */
fbp_status fbp_job_arrange(struct fbp_job *job, const struct fbp_backend *backend);

/** Of an arranged job: that of its filtered rows (backend.h, filter_rows), for the same kernel and
 *  with the same bits.  Both structs use the tables of `job`, and *out uses *prep. */
void fbp_job_of_rows(const struct fbp_job *job, struct fbp_prep *prep, struct fbp_job *out);

/** Of an arranged job: identifies everything the values depend on but the samples themselves. */
uint64_t fbp_job_fingerprint(const struct fbp_job_tables *tables,
                             const struct fbp_backend *backend);

/** One line for people: scan type, weights, filter. */
void fbp_job_describe(const struct fbp_job_tables *tables, char *buf, size_t n);

#endif /* FBP_SRC_JOB_H */
