/*
 * Importer of Nikon's .xtekct files (fbp_geometry_nikon). The files are interpreted as in CIL (its
 * NikonDataReader): angles from AngularStep and InitialAngle, never from .ang or _ctdata.txt;
 * images start at the top right as seen from the source.
 *
 * In CIL's frame the source is at (0, -SOD, 0), the panel at +y, z up, and the object turns.
 * Used by: scan/geometry_file.c.
 */
#include "scan/format/importers.h"

#include "base/math.h"
#include "base/text.h"
#include "geometry/view.h"
#include "scan/file/text.h"

#include <dirent.h>
#include <string.h>
#include <strings.h>

static const char section[] = "XTekCT";

static const char hardening[] = "beam hardening is not corrected";
static const struct fbp_ini_ignored ignored[] = {
    {section, "CoefX4", 0, NULL, hardening},
    {section, "CoefX3", 0, NULL, hardening},
    {section, "CoefX2", 0, NULL, hardening},
};

struct machine {
    double pitch[2], sod, sdd, offset[2]; /* mm */
    double axis_x;                        /* x of the rotation axis at y = z = 0 [mm] */
    double roll, tilt;                    /* angles of the axis about y and x [rad] */
};

/* Compute the view at angle 0, in CIL's reference frame after a shift and a rotation that make the
 * rotation axis the z axis, and the line from the source to the panel's centre lie in a plane x =
 * constant, towards +y. */
static void view_at_rest(const struct machine *m, struct fbp_view *out)
{
    static const double x[3] = {1, 0, 0}, y[3] = {0, 1, 0}, z[3] = {0, 0, 1};
    double roll[9], tilt[9], both[9], axis[3], normal[3], upright[9], ahead[9], R[9], d[3];
    const double source[3] = {-m->axis_x, -m->sod, 0};
    const double panel[3] = {-m->offset[0] - m->axis_x, m->sdd - m->sod, m->offset[1]};

    fbp_turn_about(y, m->roll, roll);
    fbp_turn_about(x, m->tilt, tilt);
    fbp_matmul(tilt, roll, both);
    fbp_turned(both, z, axis);

    fbp_cross(axis, z, normal); /* `upright` is the least rotation that takes the axis to z */
    const double sine = fbp_normalise(normal);
    fbp_turn_about(normal, atan2(sine, axis[2]), upright);
    fbp_axpy(panel, -1, source, d);
    fbp_turned(upright, d, d);
    fbp_turn_about(z, atan2(d[0], d[1]), ahead);
    fbp_matmul(ahead, upright, R);

    fbp_turned(R, source, out->s);
    fbp_turned(R, panel, out->d);
    fbp_turned(R, (double[3]){-m->pitch[0], 0, 0}, out->u); /* columns start at the right */
    fbp_turned(R, (double[3]){0, 0, m->pitch[1]}, out->v);  /* rows are reversed when read */
}

static fbp_status load(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known)
{
    static const double z[3] = {0, 0, 1};
    struct fbp_ini ini = {.path = path};
    struct machine m = {.sod = 0};
    struct fbp_view rest;
    size_t n = 0;
    double digits = 4, step = 0, initial = 0, top = 0, bottom = 0, x = NAN, roll = NAN, tilt = 0;
    double R[9];
    char *folder = NULL;
    DIR *dir = NULL;
    fbp_status st;

    FBP_TRY_GOTO(fbp_ini_load(&ini));
    FBP_TRY_GOTO(fbp_ini_count(&ini, section, "Projections", &n));

    /* Set the projections to NAME_0001.tif … (the default separator and number of digits) in the
     * folder of the .xtekct file, or in its subfolder InputFolderName.  An InputFolderName that is
     * absolute or contains '\' or ':' is a folder of the scanner's computer, and is ignored. */
    const char *name = fbp_ini_text(&ini, section, "Name");
    const char *below = fbp_ini_text(&ini, section, "InputFolderName");
    const char *separator = fbp_ini_text(&ini, section, "InputSeparator");
    if (below && (strpbrk(below, "\\:") || below[0] == '/'))
        below = NULL;
    FBP_TRY_GOTO(fbp_ini_number(&ini, section, "InputDigits", &digits));
    if (name && !(digits >= 1 && digits <= 9))
        FBP_TRY_GOTO(FBP_INVALID("%s: InputDigits: found %g, expected 1 to 9", path, digits));
    if (name)
        FBP_TRY_GOTO(fbp_scan_path(&out->projections, path, "%s%s%s%s%%0%dd.tif 1 %zu",
                                   below ? below : "", below ? "/" : "", name,
                                   separator ? separator : "_", (int)digits, n));
    FBP_TRY_GOTO(fbp_ini_panel(&ini, section, "DetectorPixelsX", "DetectorPixelsY",
                               out->projections, known, &out->panel));

    FBP_TRY_GOTO(fbp_ini_positive(&ini, section, "DetectorPixelSizeX", &m.pitch[0]));
    FBP_TRY_GOTO(fbp_ini_positive(&ini, section, "DetectorPixelSizeY", &m.pitch[1]));
    FBP_TRY_GOTO(fbp_ini_positive(&ini, section, "SrcToObject", &m.sod));
    FBP_TRY_GOTO(fbp_ini_positive(&ini, section, "SrcToDetector", &m.sdd));
    FBP_TRY_GOTO(fbp_ini_number(&ini, section, "DetectorOffsetX", &m.offset[0]));
    FBP_TRY_GOTO(fbp_ini_number(&ini, section, "DetectorOffsetY", &m.offset[1]));
    FBP_TRY_GOTO(fbp_ini_number(&ini, section, "AngularStep", &step));
    FBP_TRY_GOTO(fbp_ini_number(&ini, section, "InitialAngle", &initial));
    FBP_TRY_GOTO(fbp_ini_number(&ini, section, "WhiteLevel", &out->i0));
    if (!(out->i0 > 0))
        out->i0 = 0;
    if (!(fabs(step) > 0) && n > 1)
        FBP_TRY_GOTO(FBP_INVALID(
            "%s: AngularStep is missing or 0; give the angle between views (degrees)", path));
    if (m.sdd <= m.sod)
        FBP_TRY_GOTO(
            FBP_INVALID("%s: SrcToDetector (%g) must exceed SrcToObject (%g); correct one of them",
                        path, m.sdd, m.sod));

    /* Read the position of the rotation axis: in newer files in the plane of the object
     * (ObjectOffsetX), in older ones on the panel (CentreOfRotationTop, -Bottom). */
    FBP_TRY_GOTO(fbp_ini_number(&ini, section, "ObjectOffsetX", &x));
    FBP_TRY_GOTO(fbp_ini_number(&ini, section, "ObjectRoll", &roll));
    FBP_TRY_GOTO(fbp_ini_number(&ini, section, "ObjectTilt", &tilt));
    FBP_TRY_GOTO(fbp_ini_number(&ini, section, "CentreOfRotationTop", &top));
    FBP_TRY_GOTO(fbp_ini_number(&ini, section, "CentreOfRotationBottom", &bottom));
    m.axis_x = -(isnan(x) ? (top + bottom) / 2 * m.sod / m.sdd : x);
    m.roll = isnan(roll) ? -atan2(top - bottom, (double)out->panel.n_rows * m.pitch[1])
                         : roll * FBP_PI / 180;
    m.tilt = -tilt * FBP_PI / 180;

    out->row_order = FBP_ROWS_TOP_DOWN;
    FBP_TRY_GOTO(fbp_geometry_make_views(out, path, known, n));
    view_at_rest(&m, &rest);
    for (size_t k = 0; k < n; k++) {
        struct fbp_view *view = &out->views[k];
        /* CIL turns the object by 180 - initial - k step: turn the view by the negative angle */
        fbp_turn_about(z, ((double)k * step + initial - 180) * FBP_PI / 180, R);
        fbp_turned(R, rest.s, view->s);
        fbp_turned(R, rest.d, view->d);
        fbp_turned(R, rest.u, view->u);
        fbp_turned(R, rest.v, view->v);
    }
    FBP_TRY_GOTO(fbp_ini_note_ignored(&ini, ignored, N_OF(ignored), out));

    /* Add a note that measured angles beside the .xtekct file are not used (as in CIL). */
    FBP_TRY_GOTO(fbp_scan_path(&folder, path, "."));
    dir = opendir(strchr(path, '/') ? folder : ".");
    for (const struct dirent *e; dir && (e = readdir(dir));)
        if (fbp_has_extension(e->d_name, "_ctdata.txt .ang"))
            FBP_TRY_GOTO(
                fbp_scan_note_ignored(out, path, "angles", e->d_name,
                                      "the angles are assumed to have steps of AngularStep"));
fail:
    if (dir)
        closedir(dir);
    free(folder);
    fbp_ini_clear(&ini);
    return st;
}

static bool detect(const char *path, const unsigned char *head, size_t n)
{
    static const char title[] = "[XTekCT]";

    (void)path;
    for (size_t i = 0; i + sizeof title - 1 <= n; i++)
        if (strncasecmp((const char *)head + i, title, sizeof title - 1) == 0)
            return true;
    return false;
}

const struct fbp_geometry_format fbp_geometry_nikon = {
    .name = "nikon",
    .about = "Nikon's scanners",
    .extensions = ".xtekct",
    .detect = detect,
    .load = load,
};
