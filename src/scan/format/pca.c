/* Importer of scan descriptions of phoenix datos|x (.pca), which Waygate's scanners write
 * (fbp_geometry_pca). FOD and FDD are the distances from the focus to the axis and to the detector;
 * (cx, cy) is the pixel, from 0, that faces the focus. Images are assumed to start at the top left
 * as seen from the source, and the object to turn clockwise as seen from above (S. Anttalainen,
 * CT_Reconstruction).
 * Used by: scan/geometry_file.c. */
#include "scan/format/importers.h"

#include "base/math.h"
#include "base/text.h"
#include "scan/file/text.h"

#include <string.h>

static const char geometry[] = "Geometry", ct[] = "CT", image[] = "Image";

/* Keys that are not applied, because the signs of their values are not documented. */
static const struct fbp_ini_ignored ignored[] = {
    {geometry, "CalibValue", 0, NULL, "find the axis by fbp calibrate, or give --centre"},
    {geometry, "DetectorRot", 0, NULL, "use --tilt to rotate the panel"}};

/* Sections and keys that are 0 in scans along a circle, with images as the detector took them. */
static const char *const zeros[] = {
    ct,           "Type",    ct,           "NoRotation", geometry,    "Tilt",
    geometry,     "Oblique", "FastCT",     "Active",     "Multiscan", "Active",
    "SectorScan", "Active",  "Trajectory", "Active",     image,       "MirrorX",
    image,        "MirrorY", image,        "Rotation"};

static fbp_status load(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known)
{
    struct fbp_ini ini = {.path = path};
    double sod = 0, sdd = 0, sector = 0, voxel = 0, *angles = NULL;
    struct fbp_circle c = {
        .struct_size = sizeof c, .sod_mm = &sod, .sdd_mm = &sdd, .n_sod = 1, .n_sdd = 1};
    const char *name = fbp_base_name(path);
    const int n = (int)strlen(name) - (fbp_has_extension(name, ".pca") ? 4 : 0);
    fbp_status st;

    FBP_TRY_GOTO(fbp_ini_load(&ini));
    for (size_t i = 0; i < N_OF(zeros); i += 2) {
        double x = 0;
        FBP_TRY_GOTO(fbp_ini_number(&ini, zeros[i], zeros[i + 1], &x));
        if (x < 0 || x > 0)
            FBP_TRY_GOTO(FBP_UNSUPPORTED("%s: [%s] %s = %g is not supported; use a scan file", path,
                                         zeros[i], zeros[i + 1], x));
    }
    FBP_TRY_GOTO(fbp_ini_count(&ini, ct, "NumberImages", &c.n_views));
    FBP_TRY_GOTO(fbp_scan_path(&out->projections, path, "%.*s%%05d.tif 1 %zu", n, name, c.n_views));
    FBP_TRY_GOTO(fbp_ini_panel(&ini, image, "DimX", "DimY", out->projections, known, &out->panel));
    FBP_TRY_GOTO(fbp_ini_positive(&ini, geometry, "FOD", &sod));
    FBP_TRY_GOTO(fbp_ini_positive(&ini, geometry, "FDD", &sdd));
    FBP_TRY_GOTO(fbp_ini_positive(&ini, ct, "RotationSector", &sector));
    FBP_TRY_GOTO(fbp_ini_number(&ini, image, "FreeRay", &out->i0));
    FBP_TRY_GOTO(fbp_ini_number(&ini, geometry, "VoxelSizeX", &voxel));
    for (int i = 0; i < 2; i++) {
        const double middle = ((double)(i ? out->panel.n_rows : out->panel.n_columns) - 1) / 2;
        const char *pixel = i ? "PixelsizeY" : "PixelsizeX";
        double focus = middle;
        FBP_TRY_GOTO(fbp_ini_positive(&ini, "Detector", pixel, &c.pitch_mm[i]));
        FBP_TRY_GOTO(fbp_ini_number(&ini, geometry, i ? "cy" : "cx", &focus));
        c.offset_mm[i] = (i ? focus - middle : middle - focus) * c.pitch_mm[i];
    }
    if (sdd <= sod)
        FBP_TRY_GOTO(
            FBP_INVALID("%s: FDD (%g) must exceed FOD (%g); correct them", path, sdd, sod));
    out->i0 = out->i0 > 0 ? out->i0 : 0;
    out->row_order = FBP_ROWS_TOP_DOWN;
    FBP_TRY_GOTO(fbp_geometry_make_views(out, path, known, c.n_views));
    FBP_TRY_GOTO(fbp_calloc((void **)&angles, c.n_views, sizeof *angles, "angles"));
    for (size_t k = 0; k < c.n_views; k++)
        angles[k] = sector * FBP_PI / 180 * (double)k / (double)c.n_views;
    c.angles_rad = angles;
    FBP_TRY_GOTO(fbp_circle_views(&c, out->views));

    FBP_TRY_GOTO(fbp_scan_assume(out, path, "angles_deg", "counter-clockwise for the source",
                                 "not documented; use --reverse if fbp calibrate finds the "
                                 "opposite, and --flip-u if the volume is the mirror image"));
    const double ours = c.pitch_mm[0] * sod / sdd;
    if (voxel > 0 && !(fabs(ours - voxel) <= 0.01 * voxel))
        FBP_TRY_GOTO(fbp_scan_note(
            out, "%s: VoxelSizeX is %g, but PixelsizeX, FOD and FDD give %g; check --pitch", path,
            voxel, ours));
    st = fbp_ini_note_ignored(&ini, ignored, N_OF(ignored), out);
fail:
    free(angles);
    fbp_ini_clear(&ini);
    return st;
}

const struct fbp_geometry_format fbp_geometry_pca = {
    .name = "pca",
    .about = "scans of Waygate's phoenix scanners (datos|x)",
    .extensions = ".pca",
    .words = {"Version-pca", "CalibValue="},
    .load = load};
