/** @file nodes.h  Angular decimation, for kernels `hierarchical`: a group of neighbouring views is
 * replaced by fewer images of each block of voxel columns, at angles called nodes (Basu and Bresler
 * 2000; for cone beams Xiao, Bresler and Munson 2003) (internal).
 * Used by: cpu/hierarchical.c, gpu/gpu_kernel.h, module.h, nodes.c. */
#ifndef FBP_SRC_BACKEND_NODES_H
#define FBP_SRC_BACKEND_NODES_H

#include "backend/backend.h"

/** FBP_MOST_NODES: greatest number of nodes of a group.  FBP_BANDWIDTHS: number of bandwidths for
 * which a group has nodes.
 */
enum { FBP_MOST_NODES = 36, FBP_BANDWIDTHS = 8 };

/** Orientation of a view.  e: unit vector along the detector rows; n: horizontal unit vector
 * perpendicular to e, away from the source; s: source position along e, n and z [mm] (parallel
 * beams: 0); angle: of e, continuous from view to view [rad]. */
struct fbp_direction {
    double e[2], n[2], s[3], angle;
};

/** Nodes of a group for blocks of a bandwidth.  Relative to the block's middle, the projection of a
 * voxel moves as the view turns.  The phase of the highest frequency of the detector (half a period
 * per measured column) changes by at most `bandwidth` radians per radian of the view's angle. */
struct fbp_angular_nodes {
    double bandwidth;
    size_t n;
    struct fbp_direction at[FBP_MOST_NODES];
    float *coefficients; /**< [n][n_views] */
};

/** Views [first, first + n_views) of the first symmetric part of a scan (views.h). */
struct fbp_view_group {
    size_t first, n_views;
    size_t z0, z1; /**< slices that project onto detector rows in at least one of these views */
    struct fbp_angular_nodes nodes[FBP_BANDWIDTHS]; /**< by increasing bandwidth */
};

/** Division of a job: blocks of edge x edge voxel columns, groups of `group` views of the first
 * n_views views. */
struct fbp_decimation {
    size_t edge, group, n_views;
    /* found by fbp_decimation_of(): */
    double radius;     /**< half the diagonal of a block [mm] */
    double nodes;      /**< nodes per group, estimated for a block in the middle of the volume */
    double most_nodes; /**< the same for the block that needs most */
    double columns;    /**< greatest number of columns of an image in the middle of the volume */
    double depth;      /**< least depth w of the volume's edges; w is 1 at the iso-centre */
    double near;       /**< greatest relative change of the depth within a block */
    double height;     /**< greatest height of a voxel above or below the source [mm] */
    double rows;       /**< greatest number of detector rows per mm in the middle of the volume */
};

struct fbp_view_groups {
    struct fbp_direction *views; /**< [n_views of the scan] */
    struct fbp_view_group *groups;
    size_t n;
    struct fbp_decimation division; /**< as given to fbp_view_groups_make() */
    float *coefficients;            /**< of all nodes */
};

/** Bandwidth of a block at c [mm] in view k. */
double fbp_block_bandwidth(const struct fbp_job *job, size_t edge,
                           const struct fbp_direction *views, size_t k, const double c[2]);

/** Returns whether angular decimation suits the scan: no tilt, and views that turn steadily, in one
 * sense.  Sets the members below `n_views`. */
bool fbp_decimation_of(const struct fbp_job *job, struct fbp_decimation *d);

/** Computes the groups of a job, in fbp_view_groups_bytes() bytes.
 * @return FBP_ERR_UNSUPPORTED if a group needs more than FBP_MOST_NODES nodes */
fbp_status fbp_view_groups_make(const struct fbp_job *job, const struct fbp_decimation *d,
                                struct fbp_view_groups **out);
size_t fbp_view_groups_bytes(const struct fbp_job *job, const struct fbp_decimation *d);
void fbp_view_groups_free(struct fbp_view_groups **groups);

#endif /* FBP_SRC_BACKEND_NODES_H */
