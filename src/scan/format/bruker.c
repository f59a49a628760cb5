/*
 * Importer of logs of Bruker's (SkyScan's) scanners.  The stage turns counter-clockwise ("CC") seen
 * from above, and the source therefore clockwise about the object; "CW" is the other way.  Lines,
 * such as that of the optical axis, count from the bottom of the image; files start at the top, and
 * at the right as seen from the source.  TIGRE's BrukerDataLoader takes images as they are stored
 * and the source counter-clockwise: the same scan turned over, not mirrored.
 */
#include "scan/format/importers.h"

#include "array/array.h"
#include "array/file/bytes.h"
#include "array/names.h"
#include "base/math.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const char system_section[] = "System", acquisition[] = "Acquisition";

/* Least source distance at which the scanner's program takes the beam for parallel [mm]. */
static const double PARALLEL_MM = 10000;

/* Keys that NRecon applies and this importer does not. */
static const char shifts_axis[] =
    "--centre or --offset shifts the axis; its sign is not documented";
static const struct fbp_ini_ignored ignored[] = {
    {acquisition, "Image Rotation", 0, NULL, "--tilt turns the panel; its sign is not documented"},
    {acquisition, "Flat Field Correction", 0, "ON", "the pictures need darks and flats"},
    {acquisition, "Geometrical Correction", 0, "ON", "the lens may distort the pictures"},
    {acquisition, "Number Of connected Scans", 1, NULL, "each of them needs a log of its own"},
    {acquisition, "Random Movement", 0, "OFF", "there is no table of the shifts beside it (.csv)"},
    {"Reconstruction", "Postalignment", 0, NULL, shifts_axis},
    {"Reconstruction", "Misalignment Compensation", 0, NULL, shifts_axis},
    {"Reconstruction", "XY Alignment with a reference scan", 0, NULL,
     "the pictures are taken where they are"},
};

struct log {
    struct fbp_panel panel;
    size_t n_views;
    double pitch[2], sod, sdd; /* mm */
    double start, step;        /* degrees; of the source, counter-clockwise */
    double optical_axis;       /* lines from the bottom edge of the image */
    double i0;
};

static bool says(const struct fbp_ini *ini, const char *key, const char *start)
{
    const char *text = fbp_ini_text(ini, acquisition, key);

    return text && strncasecmp(text, start, strlen(start)) == 0;
}

/* Distances and pitch.  A log without the camera's distance has the pixel size at the object, which
 * gives the same rays with the panel at twice the source's distance. */
static fbp_status read_distances(const struct fbp_ini *ini, struct log *log)
{
    const char *text = fbp_ini_text(ini, acquisition, "Camera binning"); /* "2x2" */
    double pixel = 0, camera = 0, resized = 1, ratio = 1, binning[2] = {1, 1};
    char *end = NULL;

    FBP_TRY(fbp_ini_positive(ini, acquisition, "Object to Source (mm)", &log->sod));
    FBP_TRY(fbp_ini_number(ini, acquisition, "Camera to Source (mm)", &log->sdd));
    FBP_TRY(fbp_ini_number(ini, acquisition, "Scaled Image Pixel Size (um)", &pixel));
    FBP_TRY(fbp_ini_number(ini, acquisition, "Image Pixel Size (um)", &pixel));
    const bool parallel = log->sod >= PARALLEL_MM;
    if (!parallel && log->sdd > 0 && !(log->sdd > log->sod))
        return FBP_INVALID(
            "%s: Camera to Source (%g) is not above Object to Source (%g): correct one", ini->path,
            log->sdd, log->sod);
    if (parallel || !(log->sdd > log->sod)) {
        if (!(pixel > 0))
            return FBP_INVALID("%s: has neither Camera to Source (mm) nor Image Pixel Size (um): "
                               "is the file complete?",
                               ini->path);
        log->sdd = 2 * log->sod;
        log->pitch[0] = log->pitch[1] = (parallel ? 1 : 2) * pixel / 1000;
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
        return FBP_INVALID("%s: Camera binning: found \"%.20s\", expected such as 2x2", ini->path,
                           text);
    if (!(resized > 0))
        return FBP_INVALID("%s: Resized in image: found %g, expected above 0", ini->path, resized);
    if (!(fabs(ratio - 1) < 0.01))
        return FBP_UNSUPPORTED("%s: Camera X/Y Ratio: %g: which side it stretches is not known: "
                               "give detector.pitch_mm in a scan file",
                               ini->path, ratio);
    for (int i = 0; i < 2; i++)
        log->pitch[i] = camera / 1000 * binning[i] * resized;
    return FBP_OK;
}

/* The panel and n_views are known. */
static fbp_status read_log(const struct fbp_ini *ini, struct log *log)
{
    const char *trajectory = fbp_ini_text(ini, acquisition, "Scanning Trajectory");
    const char *direction = fbp_ini_text(ini, acquisition, "Rotation Direction");
    double offsets = 1, start = 0, step = 0, bits = 0;

    if (trajectory && strncasecmp(trajectory, "ROUND", 5) != 0)
        return FBP_UNSUPPORTED("%s: Scanning Trajectory: \"%.40s\" is not supported, only ROUND "
                               "is: give the views in a scan file",
                               ini->path, trajectory);
    FBP_TRY(fbp_ini_number(ini, acquisition, "Number Of Horizontal Offset Positions", &offsets));
    if (offsets > 1)
        return FBP_UNSUPPORTED(
            "%s: Number Of Horizontal Offset Positions: %g: stitch the pictures first", ini->path,
            offsets);
    if (says(ini, "Partial Width", "ON"))
        return FBP_UNSUPPORTED("%s: Partial Width=ON: where the pictures lie on the camera is not "
                               "known: give the offset in a scan file",
                               ini->path);
    FBP_TRY(read_distances(ini, log));

    FBP_TRY(fbp_ini_positive(ini, acquisition, "Rotation Step (deg)", &step));
    FBP_TRY(fbp_ini_number(ini, acquisition, "Scanning Start Angle", &start));
    const bool clockwise = direction && strcasecmp(direction, "CW") == 0;
    if (direction && !clockwise && strcasecmp(direction, "CC") != 0 &&
        strcasecmp(direction, "CCW") != 0)
        return FBP_INVALID("%s: Rotation Direction: found \"%.20s\", expected CC or CW", ini->path,
                           direction);
    log->start = (clockwise ? 1 : -1) * start;
    log->step = (clockwise ? 1 : -1) * step;

    log->optical_axis = (double)log->panel.n_rows / 2;
    FBP_TRY(fbp_ini_number(ini, acquisition, "Optical Axis (line)", &log->optical_axis));
    FBP_TRY(fbp_ini_number(ini, acquisition, "Depth (bits)", &bits));
    if (bits >= 1 && bits <= 32)
        log->i0 = exp2(bits);
    return fbp_ini_number(ini, acquisition, "Reference Intensity", &log->i0);
}

/* Refuse a table of shifts of the images, one per view, whose sign is not known. */
static fbp_status refuse_shifts(const struct fbp_ini *ini)
{
    const size_t n = strlen(ini->path);
    bool is_there;

    if (!says(ini, "Random Movement", "ON") || n < 4)
        return FBP_OK;
    char *table = fbp_format("%.*s.csv", (int)(n - 4), ini->path);
    const fbp_status st = fbp_file_exists(table, &is_there);
    free(table);
    FBP_TRY(st);
    if (!is_there)
        return FBP_OK;
    return FBP_UNSUPPORTED(
        "%s: Random Movement=ON with a table of shifts beside it (.csv), which is not understood: "
        "shift the pictures back first, then rename the table",
        ini->path);
}

/* PREFIX0000.tif, PREFIX0001.tif …, beside the log, whose name is PREFIX.log. */
static fbp_status name_projections(struct fbp_scan *out, const struct fbp_ini *ini, size_t n_views)
{
    const char *prefix = fbp_ini_text(ini, acquisition, "Filename Prefix");
    const char *format = fbp_ini_text(ini, acquisition, "Image Format");
    const char *name = fbp_base_name(ini->path);
    double digits = 4;

    FBP_TRY(fbp_ini_number(ini, acquisition, "Filename Index Length", &digits));
    if (!(digits >= 1 && digits <= 9))
        return FBP_INVALID("%s: Filename Index Length: found %g, expected 1 to 9", ini->path,
                           digits);
    if (format && strncasecmp(format, "TIF", 3) != 0)
        return FBP_OK; /* only the geometry */
    const size_t length =
        prefix ? strlen(prefix) : strlen(name) - 4 * fbp_has_extension(name, ".log");
    char *pattern = fbp_format("%.*s%%0%dd.tif 0 %zu", (int)length, prefix ? prefix : name,
                               (int)digits, n_views - 1);
    out->projections = pattern ? fbp_path_join(ini->path, pattern) : NULL;
    free(pattern);
    char *first = out->projections ? fbp_stack_name(out->projections, 0) : NULL;
    if (!first)
        return fbp_fail_nomem(length, "a path");
    if (!prefix && access(first, F_OK) != 0) { /* only the geometry */
        free(out->projections);
        out->projections = NULL;
    }
    free(first);
    return FBP_OK;
}

static fbp_status load_ini(struct fbp_scan *out, const struct fbp_ini *ini,
                           const struct fbp_geometry_known *known)
{
    struct log log = {.i0 = 0};
    double stated = 0;

    FBP_TRY(refuse_shifts(ini));
    FBP_TRY(fbp_ini_count(ini, acquisition, "Number Of Files", &log.n_views));
    FBP_TRY(name_projections(out, ini, log.n_views));
    FBP_TRY(fbp_ini_panel(ini, acquisition, "Number Of Columns", "Number Of Rows", out->projections,
                          known, &log.panel));
    FBP_TRY(read_log(ini, &log));
    const bool parallel = log.sod >= PARALLEL_MM;
    out->kind = parallel ? FBP_PARALLEL : FBP_CONE;
    out->panel = log.panel;
    out->row_order = FBP_ROWS_TOP_DOWN;
    FBP_TRY(fbp_geometry_make_views(out, ini->path, known, log.n_views));
    const double up = ((double)log.panel.n_rows / 2 - log.optical_axis) * log.pitch[1];
    for (size_t k = 0; k < log.n_views; k++) {
        const double angle = (log.start + (double)k * log.step) * FBP_PI / 180;
        const struct fbp_circle circle = {.struct_size = sizeof circle,
                                          .kind = out->kind,
                                          .n_views = 1,
                                          .angles_rad = &angle,
                                          .sod_mm = &log.sod,
                                          .sdd_mm = &log.sdd,
                                          .n_sod = 1,
                                          .n_sdd = 1,
                                          .pitch_mm = {log.pitch[0], log.pitch[1]},
                                          .offset_mm = {0, parallel ? 0 : up}};
        FBP_TRY(fbp_circle_views(&circle, &out->views[k]));
        for (int i = 0; i < 3; i++)
            out->views[k].u[i] = -out->views[k].u[i];
    }
    if (log.i0 > 0)
        out->i0 = log.i0;
    FBP_TRY(fbp_ini_note_ignored(ini, ignored, sizeof ignored / sizeof *ignored, out));

    /* The log also holds the pixel size at the object: note a contradiction. */
    const double ours = log.pitch[0] * 1000 * (parallel ? 1 : log.sod / log.sdd);
    FBP_TRY(fbp_ini_number(ini, acquisition, "Image Pixel Size (um)", &stated));
    if (stated > 0 && !(fabs(ours - stated) <= 0.01 * stated)) {
        char value[40], remedy[160];
        snprintf(value, sizeof value, "%g", stated);
        snprintf(remedy, sizeof remedy,
                 "camera, binning and distances give %.6g: give --pitch, --sod or --sdd", ours);
        return fbp_scan_note_ignored(out, ini->path, "Image Pixel Size (um)", value, remedy);
    }
    return FBP_OK;
}

static bool detect(const char *path, const unsigned char *head, size_t n)
{
    return fbp_has_extension(path, ".log") && memmem(head, n, "[System]", 8) &&
           memmem(head, n, "Scanner", 7);
}

static fbp_status load(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known)
{
    return fbp_ini_load_scan(out, path, known, load_ini);
}

const struct fbp_geometry_format fbp_geometry_bruker = {
    .name = "bruker",
    .about = "logs of Bruker's (SkyScan's) scanners",
    .extensions = ".log",
    .detect = detect,
    .load = load,
};
