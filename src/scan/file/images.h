/** @file images.h  Pictures that a scan has in memory, not in files (internal). */
#ifndef FBP_SRC_SCAN_IMAGES_H
#define FBP_SRC_SCAN_IMAGES_H

#include "fbp/scan.h"

#include "base/base.h"

enum { FBP_IMAGES = FBP_IMAGE_LAST + 1 };

/** By enum fbp_image: [row][column] of the stored panel, rows as those of the stored views; NULL:
 *  that of its file, if there is one. */
struct fbp_images {
    double *pixels[FBP_IMAGES];
    struct fbp_panel panel; /**< of each */
};

/** One of a scan, or NULL. */
const double *fbp_scan_image(const struct fbp_scan *scan, enum fbp_image which);
/** Is one of them, or a file of one, named? */
bool fbp_scan_has_image(const struct fbp_scan *scan, enum fbp_image which);
/** Are they pictures of this panel? */
bool fbp_images_fit(const struct fbp_images *images, const struct fbp_panel *panel);
/** "dark", "flat", "bad_pixels" */
const char *fbp_image_name(enum fbp_image which);

fbp_status fbp_images_copy(struct fbp_images **out, const struct fbp_images *images);
void fbp_images_free(struct fbp_images *images);

#endif /* FBP_SRC_SCAN_IMAGES_H */
