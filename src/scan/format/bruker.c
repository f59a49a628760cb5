/*
 * Importer of the log files of Bruker's (SkyScan's) micro-CT scanners (fbp_geometry_bruker):
 * geometry, and the projections beside the log. The stage turns counter-clockwise ("CC") seen from
 * above, and the source therefore clockwise about the object; "CW" is the other sense. Lines, such
 * as that of the optical axis, count from the bottom of the image; files start at the top, and at
 * the right as seen from the source. TIGRE's BrukerDataLoader takes images as they are stored, and
 * the source counter-clockwise: its volume is turned over, not mirrored.
 * Used by: scan/geometry_file.c.
 */
#include "scan/format/importers.h"

#include "array/array.h"
#include "array/file/bytes.h"
#include "array/names.h"
#include "base/math.h"
#include "base/text.h"
#include "scan/file/text.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

static const char system_section[] = "System", acquisition[] = "Acquisition";

/* Least distance from source to object for which the scanner's program assumes a parallel beam
 * [mm]. */
static const double PARALLEL_MM = 10000;

/* Keys of the log that NRecon, the scanner's program, applies and this importer ignores. */
static const char shifts_axis[] =
    "use --centre or --offset to shift the axis; the sign of this value is not documented";
static const struct fbp_ini_ignored ignored[] = {
    {acquisition, "Image Rotation", 0, NULL,
     "use --tilt to rotate the panel; the sign of this value is not documented"},
    {acquisition, "Flat Field Correction", 0, "ON", "give darks and flats for the images"},
    {acquisition, "Geometrical Correction", 0, "ON", "the lens may distort the images"},
    {acquisition, "Number Of connected Scans", 1, NULL,
     "each connected scan needs its own log file"},
    {acquisition, "Random Movement", 0, "OFF", "its table of shifts (.csv) is missing"},
    {"Reconstruction", "Postalignment", 0, NULL, shifts_axis},
    {"Reconstruction", "Misalignment Compensation", 0, NULL, shifts_axis},
    {"Reconstruction", "XY Alignment with a reference scan", 0, NULL,
     "the positions of the images are not changed"},
};

struct distances {
    double pitch[2], sod, sdd; /* mm */
};

static bool says(const struct fbp_ini *ini, const char *key, const char *start)
{
    const char *text = fbp_ini_text(ini, acquisition, key);

    return text && strncasecmp(text, start, strlen(start)) == 0;
}

/* Read the distances and the pixel pitch of the panel. If the log lacks the distance from camera to
 * source, it contains the pixel size at the object; a panel at twice the distance of the object
 * from the source, with pixels of twice this size, measures the same rays. In a parallel beam, the
 * pitch is the pixel size at the object. */
static fbp_status read_distances(const struct fbp_ini *ini, struct distances *d)
{
    const char *text = fbp_ini_text(ini, acquisition, "Camera binning"); /* "2x2" */
    double pixel = 0, camera = 0, resized = 1, ratio = 1, binning[2] = {1, 1};
    char *end = NULL;

    FBP_TRY(fbp_ini_positive(ini, acquisition, "Object to Source (mm)", &d->sod));
    FBP_TRY(fbp_ini_number(ini, acquisition, "Camera to Source (mm)", &d->sdd));
    FBP_TRY(fbp_ini_number(ini, acquisition, "Scaled Image Pixel Size (um)", &pixel));
    FBP_TRY(fbp_ini_number(ini, acquisition, "Image Pixel Size (um)", &pixel));
    const bool parallel = d->sod >= PARALLEL_MM;
    if (!parallel && d->sdd > 0 && !(d->sdd > d->sod))
        return FBP_INVALID(
            "%s: Camera to Source (%g) must exceed Object to Source (%g); correct one of them",
            ini->path, d->sdd, d->sod);
    if (parallel || !(d->sdd > d->sod)) {
        if (!(pixel > 0))
            return FBP_INVALID(
                "%s: Image Pixel Size (um) is missing, %s; check that the file is complete",
                ini->path,
                parallel ? "and Object to Source marks a parallel beam"
                         : "and so is Camera to Source (mm)");
        d->sdd = 2 * d->sod;
        d->pitch[0] = d->pitch[1] = (parallel ? 1 : 2) * pixel / 1000;
        return FBP_OK;
    }

    FBP_TRY(fbp_ini_positive(ini, system_section, "Camera Pixel Size (um)", &camera));
    FBP_TRY(fbp_ini_number(ini, acquisition, "Resized in image", &resized));
    FBP_TRY(fbp_ini_number(ini, system_section, "CameraXYRatio", &ratio));
    FBP_TRY(fbp_ini_number(ini, system_section, "Camera X/Y Ratio", &ratio));
    if (text) {
        binning[0] = (double)strtoul(text, &end, 10);
        binning[1] = *end == 'x' || *end == 'X' ? (double)strtoul(end + 1, NULL, 10) : 0;
    }
    if (!(binning[0] >= 1 && binning[0] <= 64 && binning[1] >= 1 && binning[1] <= 64))
        return FBP_INVALID("%s: Camera binning: found \"%.20s\", expected a value such as 2x2",
                           ini->path, text);
    if (!(resized > 0))
        return FBP_INVALID("%s: Resized in image: found %g, expected above 0", ini->path, resized);
    if (!(fabs(ratio - 1) < 0.01))
        return FBP_UNSUPPORTED("%s: Camera X/Y Ratio: found %g, but only 1 is supported; give "
                               "detector.pitch_mm in a scan file",
                               ini->path, ratio);
    for (int i = 0; i < 2; i++)
        d->pitch[i] = camera / 1000 * binning[i] * resized;
    return FBP_OK;
}

static fbp_status load(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known)
{
    struct fbp_ini ini = {.path = path};
    struct distances d = {.sod = 0};
    double digits = 4, offsets = 1, start = 0, step = 0, bits = 0, stated = 0;
    size_t n = 0;
    char *table = NULL, *first = NULL;
    bool is_there = false;
    fbp_status st;

    FBP_TRY_GOTO(fbp_ini_load(&ini));

    /* Refuse a log with a table of shifts of the images, one per view (the file .csv beside it),
     * because the sign of the shifts is not known. */
    const size_t length = strlen(path);
    if (says(&ini, "Random Movement", "ON") && length >= 4) {
        FBP_TRY_GOTO(fbp_scan_path(&table, NULL, "%.*s.csv", (int)(length - 4), path));
        FBP_TRY_GOTO(fbp_file_exists(table, &is_there));
    }
    if (is_there)
        FBP_TRY_GOTO(
            FBP_UNSUPPORTED("%s: Random Movement=ON with a table of shifts (.csv), which is not "
                            "supported; shift the images back first, then rename the table",
                            path));

    /* The projections are the files PREFIX0000.tif, PREFIX0001.tif … beside the log. If the log has
     * no "Filename Prefix", PREFIX is its own name without .log, and if the first of these files is
     * missing, only the geometry is loaded. */
    FBP_TRY_GOTO(fbp_ini_count(&ini, acquisition, "Number Of Files", &n));
    const char *prefix = fbp_ini_text(&ini, acquisition, "Filename Prefix");
    const char *format = fbp_ini_text(&ini, acquisition, "Image Format");
    const char *name = prefix ? prefix : fbp_base_name(path);
    FBP_TRY_GOTO(fbp_ini_number(&ini, acquisition, "Filename Index Length", &digits));
    if (!(digits >= 1 && digits <= 9))
        FBP_TRY_GOTO(
            FBP_INVALID("%s: Filename Index Length: found %g, expected 1 to 9", path, digits));
    if (!format || strncasecmp(format, "TIF", 3) == 0) {
        const size_t extension = !prefix && fbp_has_extension(name, ".log") ? 4 : 0;
        FBP_TRY_GOTO(fbp_scan_path(&out->projections, path, "%.*s%%0%dd.tif 0 %zu",
                                   (int)(strlen(name) - extension), name, (int)digits, n - 1));
        first = fbp_stack_name(out->projections, 0);
        FBP_TRY_GOTO(fbp_check_path(first));
        if (!prefix && access(first, F_OK) != 0) {
            free(out->projections);
            out->projections = NULL;
        }
    }
    FBP_TRY_GOTO(fbp_ini_panel(&ini, acquisition, "Number Of Columns", "Number Of Rows",
                               out->projections, known, &out->panel));

    const char *trajectory = fbp_ini_text(&ini, acquisition, "Scanning Trajectory");
    if (trajectory && strncasecmp(trajectory, "ROUND", 5) != 0)
        FBP_TRY_GOTO(FBP_UNSUPPORTED("%s: Scanning Trajectory: found \"%.40s\", but only ROUND is "
                                     "supported; give the views in a scan file",
                                     path, trajectory));
    FBP_TRY_GOTO(
        fbp_ini_number(&ini, acquisition, "Number Of Horizontal Offset Positions", &offsets));
    if (offsets > 1)
        FBP_TRY_GOTO(FBP_UNSUPPORTED("%s: Number Of Horizontal Offset Positions: found %g, but "
                                     "only 1 is supported; stitch the images first",
                                     path, offsets));
    if (says(&ini, "Partial Width", "ON"))
        FBP_TRY_GOTO(FBP_UNSUPPORTED("%s: Partial Width=ON: the position of the images on the "
                                     "camera is unknown; give the offset in a scan file",
                                     path));
    FBP_TRY_GOTO(read_distances(&ini, &d));
    FBP_TRY_GOTO(fbp_ini_positive(&ini, acquisition, "Rotation Step (deg)", &step));
    FBP_TRY_GOTO(fbp_ini_number(&ini, acquisition, "Scanning Start Angle", &start));
    const char *direction = fbp_ini_text(&ini, acquisition, "Rotation Direction");
    const bool clockwise = direction && strcasecmp(direction, "CW") == 0;
    if (direction && !clockwise && strcasecmp(direction, "CC") != 0 &&
        strcasecmp(direction, "CCW") != 0)
        FBP_TRY_GOTO(FBP_INVALID("%s: Rotation Direction: found \"%.20s\", expected CC or CW", path,
                                 direction));
    const double sign = clockwise ? 1 : -1; /* counter-clockwise, of the source */

    double optical_axis = (double)out->panel.n_rows / 2; /* lines from the bottom edge */
    FBP_TRY_GOTO(fbp_ini_number(&ini, acquisition, "Optical Axis (line)", &optical_axis));
    FBP_TRY_GOTO(fbp_ini_number(&ini, acquisition, "Depth (bits)", &bits));
    out->i0 = bits >= 1 && bits <= 32 ? exp2(bits) : 0;
    FBP_TRY_GOTO(fbp_ini_number(&ini, acquisition, "Reference Intensity", &out->i0));
    out->i0 = out->i0 > 0 ? out->i0 : 0;

    const bool parallel = d.sod >= PARALLEL_MM;
    out->kind = parallel ? FBP_PARALLEL : FBP_CONE;
    out->row_order = FBP_ROWS_TOP_DOWN;
    FBP_TRY_GOTO(fbp_geometry_make_views(out, path, known, n));
    const double up = ((double)out->panel.n_rows / 2 - optical_axis) * d.pitch[1];
    for (size_t k = 0; k < n; k++) {
        const double angle = sign * (start + (double)k * step) * FBP_PI / 180;
        const struct fbp_circle circle = {.struct_size = sizeof circle,
                                          .kind = out->kind,
                                          .n_views = 1,
                                          .angles_rad = &angle,
                                          .sod_mm = &d.sod,
                                          .sdd_mm = &d.sdd,
                                          .n_sod = 1,
                                          .n_sdd = 1,
                                          .pitch_mm = {d.pitch[0], d.pitch[1]},
                                          .offset_mm = {0, parallel ? 0 : up}};
        FBP_TRY_GOTO(fbp_circle_views(&circle, &out->views[k]));
        for (int i = 0; i < 3; i++)
            out->views[k].u[i] = -out->views[k].u[i];
    }
    FBP_TRY_GOTO(fbp_ini_note_ignored(&ini, ignored, N_OF(ignored), out));

    /* If the pixel size at the object in the log contradicts camera and distances, add a note. */
    const double ours = d.pitch[0] * 1000 * (parallel ? 1 : d.sod / d.sdd);
    FBP_TRY_GOTO(fbp_ini_number(&ini, acquisition, "Image Pixel Size (um)", &stated));
    if (stated > 0 && !(fabs(ours - stated) <= 0.01 * stated))
        st = fbp_scan_note(out,
                           "%s: Image Pixel Size (um) = %g is not applied, because camera, binning "
                           "and distances give %.6g; give --pitch, --sod or --sdd",
                           path, stated, ours);
fail:
    free(table);
    free(first);
    fbp_ini_clear(&ini);
    return st;
}

static bool detect(const char *path, const unsigned char *head, size_t n)
{
    return fbp_has_extension(path, ".log") && memmem(head, n, "[System]", 8) &&
           memmem(head, n, "Scanner", 7);
}

const struct fbp_geometry_format fbp_geometry_bruker = {
    .name = "bruker",
    .about = "logs of Bruker's (SkyScan's) scanners",
    .extensions = ".log",
    .detect = detect,
    .load = load,
};
