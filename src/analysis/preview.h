/** @file preview.h  Three slices of a volume, for the page of `fbp tune`: they are computed again
 * when geometry, corrections, filter or position change, and only as far as necessary (internal).
 * Implemented in preview.c.
 * Used by: cli/cmd_tune.c, preview.c. */
#ifndef FBP_SRC_ANALYSIS_PREVIEW_H
#define FBP_SRC_ANALYSIS_PREVIEW_H

#include "fbp/recon.h"

#include "base/base.h"

/**
 * Views of a scan in memory, as line integrals and filtered, and three slices through one voxel:
 * plane 0 is xy, plane 1 xz, plane 2 yz; the first letter is the axis along rows.
 *
 * The views are divided into chunks, each spread over the whole arc.  A step filters one chunk, if
 * it is not filtered yet, and backprojects it into the slices; after any number of steps the slices
 * are those of a scan with fewer views.  The sum over all chunks has the values of `fbp recon`
 * with kernel "matrix", except that a rolled panel is filtered along its own rows
 * (weight/weight.h), and that filtered views are kept if a new geometry changes no weight by more
 * than FBP_PREVIEW_KEPT.
 */
typedef struct fbp_preview fbp_preview;

/** Greatest change of a weight, relative to the greatest weight, for which views are not filtered
 * again. */
#define FBP_PREVIEW_KEPT 1e-3

/** State of a preview. */
struct fbp_preview_state {
    const char *device; /**< kind of device: "cpu", "cuda" … */
    size_t n_views;
    size_t done[3];    /**< number of views in each slice */
    bool has_read;     /**< the last fbp_preview_set() has read the views */
    bool has_filtered; /**< filtering began again after the last fbp_preview_set() */
};

/** Memory for the views of a scan [bytes]: line integrals and filtered views. */
uint64_t fbp_preview_bytes(const struct fbp_scan *scan);

/**
 * Create a preview without views.
 * params  device, number of threads; the CPU replaces a device whose buffers no other device can
 *         read (OpenGL)
 */
fbp_status fbp_preview_create(fbp_preview **out, const struct fbp_recon_params *params);
void fbp_preview_destroy(fbp_preview **preview);

/**
 * Choose what the slices show.
 *
 * scan    of line integrals, with the grid of the volume; its projections are those of all earlier
 *         calls.  After fbp_scan_reduce(), if views or pixels are joined.
 * params  filter and padding
 * at      voxel through which the slices pass
 * @return as fbp_plan_create(); after a failure, the preview shows what it showed before
 */
fbp_status fbp_preview_set(fbp_preview *p, const struct fbp_scan *scan,
                           const struct fbp_recon_params *params, const size_t at[3]);

/** Add one chunk of views to the slices that have the fewest.  *more: some slice lacks views. */
fbp_status fbp_preview_step(fbp_preview *p, bool *more);

/** Get slice `plane`: *out[rows][columns], row 0 at the bottom, multiplied by the number of all
 * views divided by the number of added views, and its least and greatest value.  The values belong
 * to the preview, until the next call.
 */
fbp_status fbp_preview_slice(fbp_preview *p, int plane, const float **out, float range[2]);

void fbp_preview_state(const fbp_preview *p, struct fbp_preview_state *out);

#endif /* FBP_SRC_ANALYSIS_PREVIEW_H */
