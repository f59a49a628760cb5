/** @file viewer.h  Three pictures of a volume while they are made (internal). */
#ifndef FBP_SRC_VIEWER_H
#define FBP_SRC_VIEWER_H

#include "fbp/array.h"
#include "fbp/picture.h"

#include "picture/projector.h"

/** One picture: bins along two axes of the volume, k[] voxels a bin. */
struct fbp_plane {
    int axis[2];    /**< of the volume: to the right, up */
    size_t bins[2]; /**< columns, rows; row 0 is the lowest */
    size_t w, h;    /**< pixels */
    float *value;   /**< [bins[1]][bins[0]] sums, then means; or greatest values */
};

struct fbp_viewer {
    fbp_source *src;
    const struct fbp_array_info *info; /**< of one frame, whose first slice is z0 */
    size_t z0;
    bool mip;
    size_t slice[3];
    size_t n[3];  /**< voxels of what is shown: turned, where it is */
    double mm[3]; /**< of a voxel of it */
    size_t k[3];  /**< voxels a bin, along x, y, z */
    struct fbp_plane planes[3];
    size_t band_rows;
    float *band;
    const struct fbp_turn *turn;           /**< NULL: the volume is shown as it lies */
    const struct fbp_projector *projector; /**< NULL: the host turns */
    int index;                             /**< of its device */
    void *device;
    size_t at_once;      /**< slices that are turned at once */
    float *slices;       /**< of them [at_once][ny][nx], as they were read */
    size_t rows;         /**< of a turned slice that are there at once */
    float *row;          /**< these */
    float *front, *side; /**< of the projector */
};

/** One pass over the volume, all that it shows into the bins of the pictures. */
fbp_status fbp_viewer_read(struct fbp_viewer *viewer);

/** Drawing as fbp_picture_write_source() does, with whole and checked parameters: greatest values
 *  by device `index` of a projector, or NULL: by the host. */
fbp_status fbp_viewer_draw(fbp_source *volume, const char *name, const char *png_path,
                           const struct fbp_picture_params *params,
                           const struct fbp_projector *projector, int index);

#endif /* FBP_SRC_VIEWER_H */
