/* Importer of scans of Zeiss Xradia's microscopes (fbp_geometry_txrm), as CIL reads them (its
 * ZEISSDataReader): the object turns by ImageInfo/Angles, the source is at (0, -StoRADistance, 0),
 * and Alignment/X-Shifts and Y-Shifts move each view by pixels. XrayGeometry 1: cone beam, else
 * parallel beam.
 * Used by: scan/geometry_file.c. */
#include "scan/format/importers.h"

#include "array/array.h"
#include "array/file/bytes.h"
#include "array/format/txrm.h"
#include "base/math.h"
#include "base/text.h"
#include "geometry/view.h"

#include <string.h>
#include <unistd.h>

static fbp_status load(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known)
{
    static const char *const lists[] = {"ImageInfo/Angles", "ImageInfo/StoRADistance",
                                        "ImageInfo/DtoRADistance", "Alignment/X-Shifts",
                                        "Alignment/Y-Shifts"};
    static const double z[3] = {0, 0, 1};
    enum { ANGLE, SOURCE, PANEL, X, Y, N };
    struct fbp_txrm t = {.fd = -1};
    fbp_source *source = NULL;
    uint32_t kind = 0;
    float pixel_um = 0, *numbers[N] = {NULL};
    size_t got[N + 2];
    uint64_t size;
    int fd = -1;
    fbp_status st;

    FBP_TRY_GOTO(fbp_source_open(&source, path, NULL));
    const struct fbp_array_info *info = fbp_source_info(source);
    const size_t n = info->n[2];
    FBP_TRY_GOTO(fbp_open_file(path, &fd, &size));
    FBP_TRY_GOTO(fbp_txrm_open(&t, fd, path));
    FBP_TRY_GOTO(fbp_txrm_numbers(&t, "ImageInfo/XrayGeometry", &kind, 1, &got[N]));
    FBP_TRY_GOTO(fbp_txrm_numbers(&t, "ImageInfo/PixelSize", &pixel_um, 1, &got[N + 1]));
    for (int i = 0; i < N; i++) {
        FBP_TRY_GOTO(fbp_calloc((void **)&numbers[i], n, sizeof *numbers[i], "numbers"));
        FBP_TRY_GOTO(fbp_txrm_numbers(&t, lists[i], numbers[i], n, &got[i]));
    }
    const double sod = fabs((double)numbers[SOURCE][0]), odd = fabs((double)numbers[PANEL][0]);
    const double pitch = pixel_um / 1000 * (kind == 1 ? (sod + odd) / sod : 1);
    if (!got[ANGLE] || !(pitch > 0) || !isfinite(pitch))
        FBP_TRY_GOTO(FBP_INVALID("%s: ImageInfo/Angles, PixelSize, StoRADistance or DtoRADistance "
                                 "is missing or wrong; give the views in a scan file",
                                 path));

    FBP_TRY_GOTO(fbp_scan_path(&out->projections, NULL, "%s", path));
    if (fbp_txrm_find(&t, "ReferenceData/Image", &size))
        FBP_TRY_GOTO(fbp_scan_path(&out->flat, NULL, "%s:reference", path));
    else
        FBP_TRY_GOTO(fbp_scan_note(out,
                                   "%s: has no reference image, so its values are taken for line "
                                   "integrals; name \"flat\" or \"i0\" in a scan file",
                                   path));
    FBP_TRY_GOTO(fbp_geometry_make_views(out, path, known, n));
    out->kind = kind == 1 ? FBP_CONE : FBP_PARALLEL;
    out->panel = (struct fbp_panel){info->n[0], info->n[1]};
    for (size_t k = 0; k < n; k++) {
        struct fbp_view *view = &out->views[k];
        double R[9];
        fbp_turn_about(z, -(double)numbers[ANGLE][k] * FBP_PI / 180, R); /* the object turns */
        fbp_turned(R, (double[3]){0, kind == 1 ? -sod : -1, 0}, view->s);
        fbp_turned(R,
                   (double[3]){numbers[X][k] * pitch, kind == 1 ? odd : 0, numbers[Y][k] * pitch},
                   view->d);
        fbp_turned(R, (double[3]){pitch, 0, 0}, view->u);
        fbp_turned(R, (double[3]){0, 0, pitch}, view->v);
    }
fail:
    fbp_source_close(&source);
    fbp_txrm_clear(&t);
    for (int i = 0; i < N; i++)
        free(numbers[i]);
    if (fd >= 0)
        close(fd);
    return st;
}

static bool detect(const char *path, const unsigned char *head, size_t n)
{
    return n >= 4 && memcmp(head, "\xd0\xcf\x11\xe0", 4) == 0 && fbp_has_extension(path, ".txrm");
}

const struct fbp_geometry_format fbp_geometry_txrm = {
    .name = "txrm",
    .about = "scans of Zeiss Xradia's microscopes",
    .extensions = ".txrm",
    .detect = detect,
    .load = load,
};
