/* Reads and writes geometries (fbp_geometry_leap) as parameter files of LEAP (Livermore's CT
 * library), lines "key = value": parallel, fan, cone and modular beams. Reference: LEAP,
 * src/leapctype.py (load_param), src/file_io.cpp (saveParametersToFile), src/parameters.cpp
 * (set_angles, set_helicalPitch, convert_conebeam_to_modularbeam, z_0).
 * Used by: scan/geometry_file.c. */
#include "scan/format/importers.h"

#include "array/file/bytes.h"
#include "base/math.h"
#include "scan/file/text.h"

#include <stdio.h>
#include <string.h>

static const double DEGREE = FBP_PI / 180;

/* LEAP's types of beams.  In a fan beam, all rays are perpendicular to z.  A modular beam lists
 * positions of source and panel, and directions of rows and columns, for each view. */
enum beam_type { PARALLEL, FAN, CONE, MODULAR };
static const char *const beam_names[] = {"parallel", "fan", "cone", "modular"};

static const struct {
    const char *name, *old;
} keys[] = {
    {"geometry", "proj_geometry"},
    {"numAngles", "proj_nangles"},
    {"numRows", "proj_nrows"},
    {"numCols", "proj_ncols"},
    {"pixelHeight", "proj_pheight"},
    {"pixelWidth", "proj_pwidth"},
    {"centerRow", "proj_crow"},
    {"centerCol", "proj_ccol"},
    {"angularRange", "proj_arange"},
    {"phis", "proj_phis"},
    {"sod", "proj_sod"},
    {"sdd", "proj_sdd"},
    {"tau", "proj_tau"},
    {"helicalPitch", "proj_helicalpitch"},
    {"tiltAngle", "proj_tiltAngle"},
    {"sourcePositions", "proj_srcpos"},
    {"moduleCenters", "proj_modcenter"},
    {"rowVectors", "proj_rowvec"},
    {"colVectors", "proj_colvec"},
    {"numX", "img_dimx"},
    {"numY", "img_dimy"},
    {"numZ", "img_dimz"},
    {"voxelWidth", "img_pwidth"},
    {"voxelHeight", "img_pheight"},
    {"offsetX", "img_offsetx"},
    {"offsetY", "img_offsety"},
    {"offsetZ", "img_offsetz"},
    {"axisOfSymmetry", "proj_axisofsymmetry"},
    {"muCoeff", "mucoeff"},
};

/* Reading. */

/* Read the value of a key: exactly n numbers, separated by commas or blanks. */
static fbp_status numbers(const struct fbp_ini *ini, const char *key, double *out, size_t n)
{
    const char *text = fbp_ini_text(ini, "", key);

    if (!text)
        return fbp_ini_missing(ini, "", key);
    for (size_t i = 0; i < n; i++) {
        char *end = NULL;
        out[i] = fbp_number(text, &end);
        if (end == text && *text == '\0')
            return FBP_INVALID("%s: %s has %zu numbers, expected %zu; correct it", ini->path, key,
                               i, n);
        if (end == text || !isfinite(out[i]))
            return FBP_INVALID("%s: %s: found \"%.20s\", expected a number", ini->path, key, text);
        text = end + strspn(end, " \t,");
    }
    if (*text)
        return FBP_INVALID("%s: %s: found \"%.20s\" after %zu numbers; remove it", ini->path, key,
                           text, n);
    return FBP_OK;
}

static fbp_status circle_views(const struct fbp_ini *ini, enum beam_type beam, struct fbp_scan *out)
{
    struct fbp_upright p = {0};
    double *phis = NULL, pitch = 0, range = 0, column = 0, row = 0, tilt = 0;
    const size_t n = out->n_views;
    fbp_status st;

    FBP_TRY(fbp_calloc((void **)&phis, n, sizeof *phis, "angles"));
    if (fbp_ini_text(ini, "", "phis")) {
        FBP_TRY_GOTO(numbers(ini, "phis", phis, n));
    } else { /* no list of angles: they are evenly spaced, from 0 on, over angularRange [degrees] */
        if (!fbp_ini_text(ini, "", "angularRange"))
            FBP_TRY_GOTO(fbp_ini_missing(ini, "", "phis"));
        FBP_TRY_GOTO(numbers(ini, "angularRange", &range, 1));
        for (size_t k = 0; k < n; k++)
            phis[k] = (double)k * range / (double)n;
    }

    /* The parameters that all views share. */
    FBP_TRY_GOTO(fbp_ini_positive(ini, "", "pixelWidth", &p.pitch[0]));
    FBP_TRY_GOTO(fbp_ini_positive(ini, "", "pixelHeight", &p.pitch[1]));
    FBP_TRY_GOTO(numbers(ini, "centerCol", &column, 1));
    FBP_TRY_GOTO(numbers(ini, "centerRow", &row, 1));
    p.shift[0] = (((double)out->panel.n_columns - 1) / 2 - column) * p.pitch[0];
    p.shift[1] = (((double)out->panel.n_rows - 1) / 2 - row) * p.pitch[1];
    if (beam != PARALLEL) {
        FBP_TRY_GOTO(fbp_ini_positive(ini, "", "sod", &p.sod));
        FBP_TRY_GOTO(fbp_ini_positive(ini, "", "sdd", &p.sdd));
        FBP_TRY_GOTO(fbp_ini_number(ini, "", "tau", &p.tau));
    }
    if (beam == FAN) { /* rays are perpendicular to z: source and detector row have one height */
        p.height = p.shift[1];
        p.shift[1] = 0;
    }
    if (beam == CONE) {
        FBP_TRY_GOTO(fbp_ini_number(ini, "", "tiltAngle", &tilt));
        p.tilt_rad = tilt * DEGREE;
        FBP_TRY_GOTO(fbp_ini_number(ini, "", "helicalPitch", &pitch));
    }
    for (size_t k = 0; k < n; k++) {
        struct fbp_upright view = p;
        view.alpha_rad = phis[k] * DEGREE;
        view.height += pitch * (phis[k] - (phis[0] + phis[n - 1]) / 2) * DEGREE;
        fbp_upright_view(&view, out->kind, &out->views[k]);
    }
fail:
    free(phis);
    return st;
}

/* Read the views of a modular beam: positions of sources and panel centres [mm], and unit vectors:
 * rowVectors from row to row, colVectors from column to column. */
static fbp_status modular_views(const struct fbp_ini *ini, struct fbp_scan *out)
{
    double width = 0, height = 0, *list = NULL;
    fbp_status st = FBP_OK;

    FBP_TRY(fbp_ini_positive(ini, "", "pixelWidth", &width));
    FBP_TRY(fbp_ini_positive(ini, "", "pixelHeight", &height));
    const struct {
        const char *key;
        double scale;
        size_t field;
    } lists[] = {{"sourcePositions", 1, offsetof(struct fbp_view, s)},
                 {"moduleCenters", 1, offsetof(struct fbp_view, d)},
                 {"colVectors", width, offsetof(struct fbp_view, u)},
                 {"rowVectors", height, offsetof(struct fbp_view, v)}};
    FBP_TRY(fbp_calloc((void **)&list, out->n_views, 3 * sizeof *list, "vectors"));
    for (size_t j = 0; j < N_OF(lists); j++) {
        FBP_TRY_GOTO(numbers(ini, lists[j].key, list, 3 * out->n_views));
        for (size_t k = 0; k < out->n_views; k++) {
            double *to = (double *)(void *)((char *)&out->views[k] + lists[j].field);
            for (size_t i = 0; i < 3; i++)
                to[i] = lists[j].scale * list[3 * k + i];
        }
    }
fail:
    free(list);
    return st;
}

static fbp_status load(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known)
{
    const struct fbp_panel *panel = &out->panel;
    struct fbp_grid *grid = &out->volume;
    struct fbp_ini ini = {.path = path};
    double symmetry = 0, mu = 0, row = 0;
    size_t n = 0;
    int type = 0;
    fbp_status st;

    FBP_TRY_GOTO(fbp_ini_load(&ini));
    /* Replace old names of keys.  Reverse the order of the lines, because fbp_ini_text() returns
     * the first of several values of a key, but LEAP uses the last one. */
    for (size_t i = 0; i < ini.n; i++)
        for (size_t k = 0; k < N_OF(keys); k++)
            if (strcmp(ini.items[i].key, keys[k].old) == 0)
                ini.items[i].key = keys[k].name;
    for (size_t i = 0; i < ini.n / 2; i++) {
        const struct fbp_ini_item first = ini.items[i];
        ini.items[i] = ini.items[ini.n - 1 - i];
        ini.items[ini.n - 1 - i] = first;
    }

    /* Read the type of the beam.  Refuse curved detectors, reconstruction of a symmetric object
     * from one view (axisOfSymmetry), and attenuated projections (muCoeff). */
    const char *name = fbp_ini_text(&ini, "", "geometry"),
               *detector = fbp_ini_text(&ini, "", "detectorType");
    if (!name)
        FBP_TRY_GOTO(fbp_ini_missing(&ini, "", "geometry"));
    while (type < 4 && strcmp(name, beam_names[type]) != 0)
        type++;
    if (type == 4)
        FBP_TRY_GOTO(FBP_UNSUPPORTED(
            "%s: geometry: found \"%.40s\", expected parallel, fan, cone or modular", path, name));
    const enum beam_type beam = (enum beam_type)type;
    if (detector && strcmp(detector, "flat") != 0)
        FBP_TRY_GOTO(FBP_UNSUPPORTED("%s: detectorType: found \"%.40s\", but only flat detectors "
                                     "are supported; give the views in a scan file",
                                     path, detector));
    FBP_TRY_GOTO(fbp_ini_number(&ini, "", "axisOfSymmetry", &symmetry));
    if (fabs(symmetry) > 0 && fabs(symmetry) < 90)
        FBP_TRY_GOTO(FBP_UNSUPPORTED("%s: axisOfSymmetry: found %g, but reconstruction from one "
                                     "view of a symmetric object is not supported; give all views",
                                     path, symmetry));
    FBP_TRY_GOTO(fbp_ini_number(&ini, "", "muCoeff", &mu));
    if (fabs(mu) > 0)
        FBP_TRY_GOTO(FBP_UNSUPPORTED("%s: muCoeff: found %g, but attenuated projections (SPECT) "
                                     "are not supported; set it to 0",
                                     path, mu));

    FBP_TRY_GOTO(fbp_ini_count(&ini, "", "numAngles", &n));
    FBP_TRY_GOTO(fbp_ini_count(&ini, "", "numRows", &out->panel.n_rows));
    FBP_TRY_GOTO(fbp_ini_count(&ini, "", "numCols", &out->panel.n_columns));
    if (beam == FAN && out->panel.n_rows > 1)
        FBP_TRY_GOTO(FBP_UNSUPPORTED(
            "%s: a fan beam with %zu rows: the rays of LEAP's fan beam are parallel to the row "
            "planes, which fbp does not support; select one row, or use a cone beam",
            path, out->panel.n_rows));
    out->kind = beam == PARALLEL ? FBP_PARALLEL : FBP_CONE;
    out->row_order = FBP_ROWS_BOTTOM_UP;
    FBP_TRY_GOTO(fbp_geometry_make_views(out, path, known, n));
    FBP_TRY_GOTO(beam == MODULAR ? modular_views(&ini, out) : circle_views(&ini, beam, out));

    /* Add notes about parameters that are not 0, but do not apply to this type of beam. */
    const bool flat = beam == PARALLEL || beam == FAN;
    const struct {
        const char *key;
        bool ignored;
    } list[] = {{"tiltAngle", flat}, {"helicalPitch", flat}, {"tau", beam == PARALLEL}};
    for (size_t i = 0; i < N_OF(list); i++) {
        double x = 0;
        if (!list[i].ignored)
            continue;
        FBP_TRY_GOTO(fbp_ini_number(&ini, "", list[i].key, &x));
        if (fabs(x) > 0)
            FBP_TRY_GOTO(fbp_scan_note_ignored(out, path, list[i].key,
                                               fbp_ini_text(&ini, "", list[i].key),
                                               "it applies to other beams"));
    }

    /* The volume's centre is at offsetX, offsetY, offsetZ.  In parallel and fan beams, LEAP ignores
     * offsetZ: slice k is at the height of detector row k. */
    if (fbp_ini_text(&ini, "", "numX")) {
        FBP_TRY_GOTO(fbp_ini_count(&ini, "", "numX", &grid->n[0]));
        FBP_TRY_GOTO(fbp_ini_count(&ini, "", "numY", &grid->n[1]));
        FBP_TRY_GOTO(fbp_ini_count(&ini, "", "numZ", &grid->n[2]));
        FBP_TRY_GOTO(fbp_ini_positive(&ini, "", "voxelWidth", &grid->voxel_mm[0]));
        FBP_TRY_GOTO(fbp_ini_positive(&ini, "", "voxelHeight", &grid->voxel_mm[2]));
        grid->voxel_mm[1] = grid->voxel_mm[0];
        FBP_TRY_GOTO(fbp_ini_number(&ini, "", "offsetX", &grid->centre_mm[0]));
        FBP_TRY_GOTO(fbp_ini_number(&ini, "", "offsetY", &grid->centre_mm[1]));
        FBP_TRY_GOTO(fbp_ini_number(&ini, "", "offsetZ", &grid->centre_mm[2]));
        if (beam <= FAN) {
            FBP_TRY_GOTO(numbers(&ini, "centerRow", &row, 1));
            if (grid->n[2] != panel->n_rows)
                FBP_TRY_GOTO(FBP_INVALID("%s: numZ is %zu, but numRows is %zu, and LEAP needs one "
                                         "slice per row for this beam; correct one of them",
                                         path, grid->n[2], panel->n_rows));
            grid->centre_mm[2] = (((double)grid->n[2] - 1) / 2 - row) * grid->voxel_mm[2];
        }
    }
fail:
    fbp_ini_clear(&ini);
    return st;
}

/* True if a line in the file's beginning head[n] sets "geometry" or "proj_geometry". */
static bool detect(const char *path, const unsigned char *head, size_t n)
{
    static const char word[] = "geometry", old[] = "proj_geometry";
    char text[4096 + 1];

    (void)path;
    n = n < sizeof text ? n : sizeof text - 1;
    if (n > 0)
        memcpy(text, head, n);
    text[n] = '\0';
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += strspn(line, "\n \t");
        const char *p = strncmp(line, old, sizeof old - 1) == 0     ? line + sizeof old - 1
                        : strncmp(line, word, sizeof word - 1) == 0 ? line + sizeof word - 1
                                                                    : NULL;
        if (p && p[strspn(p, " \t")] == '=')
            return true;
    }
    return false;
}

/* Writing: of LEAP's types of beams, the simplest one that describes the scan. */

/* Greatest difference between sizes or positions of voxels that count as equal, as a fraction of
 * the voxel size. */
static const double EQUAL = 1e-10;
/* LEAP's limit of tiltAngle [rad]. */
static const double MOST_TILT = 5 * FBP_PI / 180;

struct beam {
    enum beam_type type;
    struct fbp_upright first;
    double *phis; /* [n_views] angles of the views [rad], without jumps of 2 pi; unused for modular
                     beams */
    double pitch; /* rise of a helix [mm/rad] */
};

/* Return the simplest type of beam that describes all views; MODULAR if no other type does.  The
 * parameters of other types are written to *b. */
static enum beam_type beam_of(const struct fbp_scan *scan, struct beam *b)
{
    const size_t n = scan->n_views;
    const bool source = fbp_kind_has_source(scan->kind);
    double *phis = b->phis;
    struct fbp_upright p;

    for (size_t k = 0; k < n; k++) {
        if (!fbp_upright_of(&scan->views[k], scan->kind, &p))
            return MODULAR;
        if (k == 0)
            b->first = p;
        if (!fbp_upright_same(&p, &b->first))
            return MODULAR;
        phis[k] = k ? fbp_near_angle(p.alpha_rad, phis[k - 1]) : p.alpha_rad;
    }
    const double height = scan->views[n - 1].s[2] - scan->views[0].s[2];
    if (source && n > 1)
        b->pitch = height / (phis[n - 1] - phis[0]);
    for (size_t k = 1; k < n; k++) /* MODULAR unless angles are monotonic */
        if (!(fabs(phis[k] - phis[k - 1]) > 0) || (phis[k] > phis[k - 1]) != (phis[1] > phis[0]))
            return MODULAR;
    if (!source)
        return fbp_is_close(b->first.tilt_rad, 0, 1) ? PARALLEL : MODULAR;

    /* A fan beam has one detector row, at the height of the source, and this height is the same in
     * all views.  In a cone beam, the source follows LEAP's helix (or circle, if the pitch is 0),
     * which is at height 0 at the mean of the first and the last angle. */
    const double size = b->first.sod + b->first.sdd, middle = (phis[0] + phis[n - 1]) / 2;
    bool fan = scan->panel.n_rows == 1 && fbp_is_close(b->first.shift[1], 0, size) &&
               fbp_is_close(b->first.tilt_rad, 0, 1);
    bool helix = fabs(b->first.tilt_rad) <= MOST_TILT;
    for (size_t k = 0; k < n; k++) {
        const double z = scan->views[k].s[2];
        fan = fan && fbp_is_close(z, scan->views[0].s[2], size);
        helix = helix && fbp_is_close(z, b->pitch * (phis[k] - middle), b->first.sod);
    }
    return fan ? FAN : helix ? CONE : MODULAR;
}

static void put(struct fbp_writer *w, const char *key, double x)
{
    fprintf(w->f, "%s = ", key);
    fbp_put_number(w, x);
    fputc('\n', w->f);
}

static void put_vectors(struct fbp_writer *w, const struct fbp_scan *scan, const char *key,
                        double scale, size_t field)
{
    fprintf(w->f, "%s = ", key);
    for (size_t k = 0; k < scan->n_views; k++) {
        const double *v = (const double *)(const void *)((const char *)&scan->views[k] + field);
        for (int i = 0; i < 3; i++) {
            fputs(k || i ? ", " : "", w->f);
            fbp_put_number(w, v[i] / scale);
        }
    }
    fputc('\n', w->f);
}

static void put_scan(struct fbp_writer *w, const struct fbp_scan *scan, const struct fbp_grid *g,
                     const struct beam *b)
{
    static const char *const sizes[] = {"numX", "numY", "numZ"}, *const centre[] = {"offsetX",
                                                                                    "offsetY",
                                                                                    "offsetZ"};
    const double pitch[2] = {fbp_norm(scan->views[0].u), fbp_norm(scan->views[0].v)};
    const bool modular = b->type == MODULAR;
    const double up = b->first.shift[1] + (b->type == FAN ? b->first.height : 0);

    fputs("# CT volume parameters\n", w->f);
    for (int i = 0; i < 3; i++)
        put(w, sizes[i], (double)g->n[i]);
    put(w, "voxelWidth", g->voxel_mm[0]);
    put(w, "voxelHeight", g->voxel_mm[2]);
    for (int i = 0; i < 3; i++)
        put(w, centre[i], b->type <= FAN && i == 2 ? 0 : g->centre_mm[i]);

    fprintf(w->f, "\n# CT geometry parameters\n%s = %s\n", "geometry", beam_names[b->type]);
    put(w, "numAngles", (double)scan->n_views);
    put(w, "numRows", (double)scan->panel.n_rows);
    put(w, "numCols", (double)scan->panel.n_columns);
    put(w, "pixelHeight", pitch[1]);
    put(w, "pixelWidth", pitch[0]);
    put(w, "centerRow", ((double)scan->panel.n_rows - 1) / 2 - (modular ? 0 : up / pitch[1]));
    put(w, "centerCol",
        ((double)scan->panel.n_columns - 1) / 2 - (modular ? 0 : b->first.shift[0] / pitch[0]));

    if (modular) {
        put_vectors(w, scan, "sourcePositions", 1, offsetof(struct fbp_view, s));
        put_vectors(w, scan, "moduleCenters", 1, offsetof(struct fbp_view, d));
        put_vectors(w, scan, "rowVectors", pitch[1], offsetof(struct fbp_view, v));
        put_vectors(w, scan, "colVectors", pitch[0], offsetof(struct fbp_view, u));
        return;
    }
    fprintf(w->f, "%s = ", "phis");
    for (size_t k = 0; k < scan->n_views; k++) {
        fputs(k ? ", " : "", w->f);
        fbp_put_number(w, b->phis[k] * 180 / FBP_PI);
    }
    fputc('\n', w->f);
    if (b->type == PARALLEL)
        return;
    put(w, "sod", b->first.sod);
    put(w, "sdd", b->first.sdd);
    put(w, "tau", b->first.tau);
    if (b->type == FAN)
        return;
    put(w, "tiltAngle", b->first.tilt_rad * 180 / FBP_PI);
    put(w, "helicalPitch", b->pitch);
}

static fbp_status save(const struct fbp_scan *scan, const char *path)
{
    const bool source = fbp_kind_has_source(scan->kind);
    struct beam b = {0};
    const struct fbp_upright *p = &b.first;
    struct fbp_grid volume = scan->volume;
    struct fbp_writer w;
    fbp_status st;

    FBP_TRY(fbp_calloc((void **)&b.phis, scan->n_views, sizeof *b.phis, "angles"));
    b.type = beam_of(scan, &b);
    if (b.type == MODULAR && !source)
        FBP_TRY_GOTO(FBP_UNSUPPORTED(
            "%s: LEAP's parallel beams need one direction of rotation about z, and upright panels "
            "perpendicular to the rays with a common offset; write a scan file",
            path));
    for (size_t k = 0; b.type == MODULAR && k < scan->n_views; k++)
        FBP_TRY_GOTO(fbp_geometry_check_square(scan, path, k, "LEAP"));

    /* In LEAP's parallel and fan beams, slice k is at the height of detector row k, so the detector
     * determines number, distance and heights of the slices. */
    const bool rows = b.type <= FAN;
    const double voxel = p->pitch[0] * (source ? p->sod / p->sdd : 1);
    const struct fbp_grid slices = {
        .n = {scan->panel.n_columns, scan->panel.n_columns, scan->panel.n_rows},
        .voxel_mm = {voxel, voxel, p->pitch[1]},
        .centre_mm = {0, 0, source ? p->height : p->shift[1]}};
    if (volume.n[0] == 0 && rows)
        volume = slices;
    else if (volume.n[0] == 0)
        FBP_TRY_GOTO(fbp_grid_default(fbp_scan_views(scan), &volume));
    if (!(fabs(volume.voxel_mm[0] - volume.voxel_mm[1]) <= EQUAL * volume.voxel_mm[0]))
        FBP_TRY_GOTO(
            FBP_UNSUPPORTED("%s: the volume's voxels are %g x %g mm along x and y, but LEAP needs "
                            "square voxels; change the scan's volume, or remove it",
                            path, volume.voxel_mm[0], volume.voxel_mm[1]));
    if (rows && (volume.n[2] != slices.n[2] ||
                 !(fabs(volume.voxel_mm[2] - slices.voxel_mm[2]) <= EQUAL * slices.voxel_mm[2]) ||
                 !(fabs(volume.centre_mm[2] - slices.centre_mm[2]) <= EQUAL * slices.voxel_mm[2])))
        FBP_TRY_GOTO(FBP_UNSUPPORTED("%s: LEAP's parallel and fan beams need one slice per "
                                     "detector row; change the scan's volume, or remove it",
                                     path));
    FBP_TRY_GOTO(fbp_writer_open(&w, path));
    put_scan(&w, scan, &volume, &b);
    st = fbp_writer_close(&w, FBP_OK);
fail:
    free(b.phis);
    return st;
}

const struct fbp_geometry_format fbp_geometry_leap = {
    .name = "leap",
    .about = "LEAP's parameter file",
    .extensions = ".cfg",
    .detect = detect,
    .load = load,
    .save = save,
    .saves = FBP_KINDS_OF_LINES,
};
