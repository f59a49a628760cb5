#include "scan/file/images.h"

#include "base/base.h"

#include <stdlib.h>
#include <string.h>

const double *fbp_scan_image(const struct fbp_scan *scan, enum fbp_image which)
{
    return scan->images ? scan->images->pixels[which] : NULL;
}

bool fbp_scan_has_image(const struct fbp_scan *scan, enum fbp_image which)
{
    const char *const files[FBP_IMAGES] = {scan->dark, scan->flat, scan->bad_pixels};

    return files[which] || fbp_scan_image(scan, which);
}

bool fbp_images_fit(const struct fbp_images *images, const struct fbp_panel *panel)
{
    return images->panel.n_columns == panel->n_columns && images->panel.n_rows == panel->n_rows;
}

const char *fbp_image_name(enum fbp_image which)
{
    static const char *const names[FBP_IMAGES] = {"dark", "flat", "bad_pixels"};

    return names[which];
}

static fbp_status copy_pixels(struct fbp_images *to, const struct fbp_images *from)
{
    const size_t n = from->panel.n_columns * from->panel.n_rows;

    to->panel = from->panel;
    for (int i = 0; i < FBP_IMAGES; i++) {
        if (!from->pixels[i])
            continue;
        FBP_TRY(fbp_alloc((void **)&to->pixels[i], n * sizeof(double), "an image"));
        memcpy(to->pixels[i], from->pixels[i], n * sizeof(double));
    }
    return FBP_OK;
}

fbp_status fbp_images_copy(struct fbp_images **out, const struct fbp_images *images)
{
    struct fbp_images *copy = NULL;
    fbp_status st = FBP_OK;

    if (images) {
        FBP_TRY(fbp_calloc((void **)&copy, 1, sizeof *copy, "images"));
        st = copy_pixels(copy, images);
    }
    if (st != FBP_OK) {
        fbp_images_free(copy);
        copy = NULL;
    }
    *out = copy;
    return st;
}

void fbp_images_free(struct fbp_images *images)
{
    if (!images)
        return;
    for (int i = 0; i < FBP_IMAGES; i++)
        fbp_free(images->pixels[i]);
    free(images);
}
