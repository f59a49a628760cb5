/* LEAP's parameter files, "key = value", read and written: parallel, fan, cone and modular beams.
 * LEAP, src/leapctype.py (load_param), src/file_io.cpp (saveParametersToFile), src/parameters.cpp
 * (set_angles, set_helicalPitch, convert_conebeam_to_modularbeam, z_0). */
#include "scan/format/importers.h"

#include "array/file/bytes.h"
#include "base/base.h"
#include "base/math.h"
#include "scan/file/text.h"

#include <stdio.h>
#include <string.h>

enum { MAX_BYTES = 1 << 28 };

static const double DEGREE = FBP_PI / 180;

/* A fan beam has horizontal rays, a modular one has vectors for each view. */
enum beam_type { PARALLEL, FAN, CONE, MODULAR };
static const char *const beam_names[] = {"parallel", "fan", "cone", "modular"};

/* The keys, and their names now and in older files. */
#define KEYS(DO)                                          \
    DO(GEOMETRY, "geometry", "proj_geometry")             \
    DO(ANGLES, "numAngles", "proj_nangles")               \
    DO(ROWS, "numRows", "proj_nrows")                     \
    DO(COLUMNS, "numCols", "proj_ncols")                  \
    DO(PIXEL_HEIGHT, "pixelHeight", "proj_pheight")       \
    DO(PIXEL_WIDTH, "pixelWidth", "proj_pwidth")          \
    DO(CENTER_ROW, "centerRow", "proj_crow")              \
    DO(CENTER_COLUMN, "centerCol", "proj_ccol")           \
    DO(RANGE, "angularRange", "proj_arange")              \
    DO(PHIS, "phis", "proj_phis")                         \
    DO(SOD, "sod", "proj_sod")                            \
    DO(SDD, "sdd", "proj_sdd")                            \
    DO(TAU, "tau", "proj_tau")                            \
    DO(PITCH, "helicalPitch", "proj_helicalpitch")        \
    DO(TILT, "tiltAngle", "proj_tiltAngle")               \
    DO(SOURCES, "sourcePositions", "proj_srcpos")         \
    DO(CENTERS, "moduleCenters", "proj_modcenter")        \
    DO(ROW_VECTORS, "rowVectors", "proj_rowvec")          \
    DO(COLUMN_VECTORS, "colVectors", "proj_colvec")       \
    DO(NX, "numX", "img_dimx")                            \
    DO(NY, "numY", "img_dimy")                            \
    DO(NZ, "numZ", "img_dimz")                            \
    DO(VOXEL_WIDTH, "voxelWidth", "img_pwidth")           \
    DO(VOXEL_HEIGHT, "voxelHeight", "img_pheight")        \
    DO(X, "offsetX", "img_offsetx")                       \
    DO(Y, "offsetY", "img_offsety")                       \
    DO(Z, "offsetZ", "img_offsetz")                       \
    DO(DETECTOR, "detectorType", NULL)                    \
    DO(SYMMETRY, "axisOfSymmetry", "proj_axisofsymmetry") \
    DO(MU, "muCoeff", "mucoeff")

#define ENUMERATOR(key, name, old) key,
#define NAMES(key, name, old)      [key] = {name, old},
enum key { KEYS(ENUMERATOR) N_KEYS };
static const struct {
    const char *name, *old;
} keys[N_KEYS] = {KEYS(NAMES)};

/* Reading. */

struct file {
    const char *path;
    char *value[N_KEYS]; /* inside the file's text; NULL: the key is absent */
    enum beam_type beam;
};

/* Cut blanks off both ends. */
static char *trim(char *text, char *end)
{
    while (end > text && strchr(" \t\r", end[-1]))
        end--;
    *end = '\0';
    return text + strspn(text, " \t\r");
}

static bool is_given(const struct file *f, enum key key)
{
    return f->value[key] && *f->value[key];
}

static fbp_status missing(const struct file *f, enum key key)
{
    return FBP_INVALID("%s: %s is missing; add it", f->path, keys[key].name);
}

/* Exactly n numbers with commas or blanks between them. */
static fbp_status numbers(const struct file *f, enum key key, double *out, size_t n)
{
    const char *text = f->value[key];

    if (!is_given(f, key))
        return missing(f, key);
    for (size_t i = 0; i < n; i++) {
        char *end = NULL;
        out[i] = fbp_number(text, &end);
        if (end == text && *text == '\0')
            return FBP_INVALID("%s: %s has %zu numbers, expected %zu; correct it", f->path,
                               keys[key].name, i, n);
        if (end == text || !isfinite(out[i]))
            return FBP_INVALID("%s: %s: found \"%.20s\", expected a number", f->path,
                               keys[key].name, text);
        text = end + strspn(end, " \t,");
    }
    if (*text)
        return FBP_INVALID("%s: %s: found \"%.20s\" after %zu numbers; remove it", f->path,
                           keys[key].name, text, n);
    return FBP_OK;
}

/* A number if the key is present. */
static fbp_status number(const struct file *f, enum key key, double *out)
{
    return is_given(f, key) ? numbers(f, key, out, 1) : FBP_OK;
}

static fbp_status positive(const struct file *f, enum key key, double *out)
{
    FBP_TRY(numbers(f, key, out, 1));
    return *out > 0 ? FBP_OK
                    : FBP_INVALID("%s: %s: found %g, expected a positive number", f->path,
                                  keys[key].name, *out);
}

static fbp_status count(const struct file *f, enum key key, size_t *out)
{
    const double most = 1e6; /* lists of numbers follow, so there are no more views */
    double x = 0;

    FBP_TRY(numbers(f, key, &x, 1));
    if (!(x >= 1 && x <= most && x == floor(x)))
        return FBP_INVALID("%s: %s: found %g, expected a whole number from 1 to %g", f->path,
                           keys[key].name, x, most);
    *out = (size_t)x;
    return FBP_OK;
}

static fbp_status circle_views(const struct file *f, struct fbp_scan *out)
{
    struct fbp_upright p = {0};
    double *phis = NULL, pitch = 0, range = 0, column = 0, row = 0, tilt = 0;
    const size_t n = out->n_views;
    fbp_status st;

    FBP_TRY(fbp_calloc((void **)&phis, n, sizeof *phis, "angles"));
    if (is_given(f, PHIS)) {
        FBP_TRY_GOTO(numbers(f, PHIS, phis, n));
    } else { /* LEAP stores only the range of even angles */
        if (!is_given(f, RANGE))
            FBP_TRY_GOTO(missing(f, PHIS));
        FBP_TRY_GOTO(numbers(f, RANGE, &range, 1));
        for (size_t k = 0; k < n; k++)
            phis[k] = (double)k * range / (double)n;
    }

    /* The parameters that all views share. */
    FBP_TRY_GOTO(positive(f, PIXEL_WIDTH, &p.pitch[0]));
    FBP_TRY_GOTO(positive(f, PIXEL_HEIGHT, &p.pitch[1]));
    FBP_TRY_GOTO(numbers(f, CENTER_COLUMN, &column, 1));
    FBP_TRY_GOTO(numbers(f, CENTER_ROW, &row, 1));
    p.shift[0] = (((double)out->panel.n_columns - 1) / 2 - column) * p.pitch[0];
    p.shift[1] = (((double)out->panel.n_rows - 1) / 2 - row) * p.pitch[1];
    if (f->beam != PARALLEL) {
        FBP_TRY_GOTO(positive(f, SOD, &p.sod));
        FBP_TRY_GOTO(positive(f, SDD, &p.sdd));
        FBP_TRY_GOTO(number(f, TAU, &p.tau));
    }
    if (f->beam == FAN) { /* its rays are horizontal: the source is as high as the row */
        p.height = p.shift[1];
        p.shift[1] = 0;
    }
    if (f->beam == CONE) {
        FBP_TRY_GOTO(number(f, TILT, &tilt));
        p.tilt_rad = tilt * DEGREE;
        FBP_TRY_GOTO(number(f, PITCH, &pitch));
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

/* The four lists of vectors.  rowVectors point from row to row, colVectors from column to column.
 */
static fbp_status modular_views(const struct file *f, struct fbp_scan *out)
{
    double width = 0, height = 0, *list = NULL;
    fbp_status st = FBP_OK;

    FBP_TRY(positive(f, PIXEL_WIDTH, &width));
    FBP_TRY(positive(f, PIXEL_HEIGHT, &height));
    const struct {
        enum key key;
        double scale;
        size_t field;
    } lists[] = {{SOURCES, 1, offsetof(struct fbp_view, s)},
                 {CENTERS, 1, offsetof(struct fbp_view, d)},
                 {COLUMN_VECTORS, width, offsetof(struct fbp_view, u)},
                 {ROW_VECTORS, height, offsetof(struct fbp_view, v)}};
    FBP_TRY(fbp_calloc((void **)&list, out->n_views, 3 * sizeof *list, "vectors"));
    for (size_t j = 0; j < N_OF(lists); j++) {
        FBP_TRY_GOTO(numbers(f, lists[j].key, list, 3 * out->n_views));
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
    struct file f = {.path = path};
    char *text = NULL;
    double symmetry = 0, mu = 0, row = 0;
    size_t n = 0;
    int type = 0;
    fbp_status st;

    FBP_TRY(fbp_read_text(path, MAX_BYTES, &text, &n));
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        char *equals = strchr(line, '=');
        if (*line == '#' || !equals)
            continue;
        const char *key = trim(line, equals);
        char *value = trim(equals + 1, equals + 1 + strcspn(equals + 1, "="));
        for (int i = 0; i < N_KEYS; i++)
            if (strcmp(key, keys[i].name) == 0 || (keys[i].old && strcmp(key, keys[i].old) == 0))
                f.value[i] = value;
    }

    /* The beam; refuse curved detectors and integrals that are not those of lines. */
    const char *beam = f.value[GEOMETRY], *detector = f.value[DETECTOR];
    if (!beam)
        FBP_TRY_GOTO(missing(&f, GEOMETRY));
    while (type < 4 && strcmp(beam, beam_names[type]) != 0)
        type++;
    if (type == 4)
        FBP_TRY_GOTO(FBP_UNSUPPORTED(
            "%s: geometry: found \"%.40s\", expected parallel, fan, cone or modular", f.path,
            beam));
    f.beam = (enum beam_type)type;
    if (detector && strcmp(detector, "flat") != 0)
        FBP_TRY_GOTO(FBP_UNSUPPORTED("%s: detectorType: found \"%.40s\", but only flat detectors "
                                     "are supported; give the views in a scan file",
                                     f.path, detector));
    FBP_TRY_GOTO(number(&f, SYMMETRY, &symmetry));
    if (fabs(symmetry) > 0 && fabs(symmetry) < 90)
        FBP_TRY_GOTO(FBP_UNSUPPORTED("%s: axisOfSymmetry: found %g, but reconstruction from one "
                                     "view of a symmetric object is not supported; give all views",
                                     f.path, symmetry));
    FBP_TRY_GOTO(number(&f, MU, &mu));
    if (fabs(mu) > 0)
        FBP_TRY_GOTO(FBP_UNSUPPORTED("%s: muCoeff: found %g, but attenuated projections (SPECT) "
                                     "are not supported; set it to 0",
                                     f.path, mu));

    FBP_TRY_GOTO(count(&f, ANGLES, &n));
    FBP_TRY_GOTO(count(&f, ROWS, &out->panel.n_rows));
    FBP_TRY_GOTO(count(&f, COLUMNS, &out->panel.n_columns));
    if (f.beam == FAN && out->panel.n_rows > 1)
        FBP_TRY_GOTO(FBP_UNSUPPORTED(
            "%s: a fan beam with %zu rows: the rays of LEAP's fan beam are parallel to the row "
            "planes, which fbp does not support; select one row, or use a cone beam",
            f.path, out->panel.n_rows));
    out->kind = f.beam == PARALLEL ? FBP_PARALLEL : FBP_CONE;
    out->row_order = FBP_ROWS_BOTTOM_UP;
    FBP_TRY_GOTO(fbp_geometry_make_views(out, f.path, known, n));
    FBP_TRY_GOTO(f.beam == MODULAR ? modular_views(&f, out) : circle_views(&f, out));

    /* Numbers that LEAP applies to other beams only, as far as is known. */
    const bool flat = f.beam == PARALLEL || f.beam == FAN;
    const struct {
        enum key key;
        bool ignored;
    } list[] = {{TILT, flat}, {PITCH, flat}, {TAU, f.beam == PARALLEL}};
    for (size_t i = 0; i < N_OF(list); i++) {
        double x = 0;
        if (!list[i].ignored)
            continue;
        FBP_TRY_GOTO(number(&f, list[i].key, &x));
        if (fabs(x) > 0)
            FBP_TRY_GOTO(fbp_scan_note_ignored(out, f.path, keys[list[i].key].name,
                                               f.value[list[i].key], "it applies to other beams"));
    }

    /* The volume is centred on the offsets; for parallel and fan beams slice k is row k of the
     * detector. */
    if (is_given(&f, NX)) {
        FBP_TRY_GOTO(count(&f, NX, &grid->n[0]));
        FBP_TRY_GOTO(count(&f, NY, &grid->n[1]));
        FBP_TRY_GOTO(count(&f, NZ, &grid->n[2]));
        FBP_TRY_GOTO(positive(&f, VOXEL_WIDTH, &grid->voxel_mm[0]));
        FBP_TRY_GOTO(positive(&f, VOXEL_HEIGHT, &grid->voxel_mm[2]));
        grid->voxel_mm[1] = grid->voxel_mm[0];
        FBP_TRY_GOTO(number(&f, X, &grid->centre_mm[0]));
        FBP_TRY_GOTO(number(&f, Y, &grid->centre_mm[1]));
        FBP_TRY_GOTO(number(&f, Z, &grid->centre_mm[2]));
        if (f.beam <= FAN) {
            FBP_TRY_GOTO(numbers(&f, CENTER_ROW, &row, 1));
            if (grid->n[2] != panel->n_rows)
                FBP_TRY_GOTO(FBP_INVALID("%s: numZ is %zu, but numRows is %zu, and LEAP needs one "
                                         "slice per row for this beam; correct one of them",
                                         f.path, grid->n[2], panel->n_rows));
            grid->centre_mm[2] = (((double)grid->n[2] - 1) / 2 - row) * grid->voxel_mm[2];
        }
    }
fail:
    free(text);
    return st;
}

/* A line that begins with "geometry" or "proj_geometry" and "=". */
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

/* Writing: the fewest parameters that hold the scan. */

/* Relative tolerance of lengths of the volume. */
static const double EQUAL = 1e-10;
/* LEAP's limit of tiltAngle. */
static const double MOST_TILT = 5 * FBP_PI / 180;

struct beam {
    enum beam_type type;
    struct fbp_upright first;
    double *phis; /* rad, without jumps; not for modular beams */
    double pitch; /* of a helix, mm/rad */
};

/* The simplest beam that holds all views; fills b. */
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
    for (size_t k = 1; k < n; k++) /* all angles must rise, or all fall */
        if (!(fabs(phis[k] - phis[k - 1]) > 0) || (phis[k] > phis[k - 1]) != (phis[1] > phis[0]))
            return MODULAR;
    if (!source)
        return fbp_is_close(b->first.tilt_rad, 0, 1) ? PARALLEL : MODULAR;

    /* fan: one row in one plane with its source; cone: the heights are those of LEAP's helix, whose
     * middle is at height 0 */
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

static void put(struct fbp_writer *w, enum key key, double x)
{
    fprintf(w->f, "%s = ", keys[key].name);
    fbp_put_number(w, x);
    fputc('\n', w->f);
}

static void put_vectors(struct fbp_writer *w, const struct fbp_scan *scan, enum key key,
                        double scale, size_t field)
{
    fprintf(w->f, "%s = ", keys[key].name);
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
    static const enum key sizes[] = {NX, NY, NZ}, centre[] = {X, Y, Z};
    const double pitch[2] = {fbp_norm(scan->views[0].u), fbp_norm(scan->views[0].v)};
    const bool modular = b->type == MODULAR;
    const double up = b->first.shift[1] + (b->type == FAN ? b->first.height : 0);

    fputs("# CT volume parameters\n", w->f);
    for (int i = 0; i < 3; i++)
        put(w, sizes[i], (double)g->n[i]);
    put(w, VOXEL_WIDTH, g->voxel_mm[0]);
    put(w, VOXEL_HEIGHT, g->voxel_mm[2]);
    for (int i = 0; i < 3; i++)
        put(w, centre[i], b->type <= FAN && i == 2 ? 0 : g->centre_mm[i]);

    fprintf(w->f, "\n# CT geometry parameters\n%s = %s\n", keys[GEOMETRY].name,
            beam_names[b->type]);
    put(w, ANGLES, (double)scan->n_views);
    put(w, ROWS, (double)scan->panel.n_rows);
    put(w, COLUMNS, (double)scan->panel.n_columns);
    put(w, PIXEL_HEIGHT, pitch[1]);
    put(w, PIXEL_WIDTH, pitch[0]);
    put(w, CENTER_ROW, ((double)scan->panel.n_rows - 1) / 2 - (modular ? 0 : up / pitch[1]));
    put(w, CENTER_COLUMN,
        ((double)scan->panel.n_columns - 1) / 2 - (modular ? 0 : b->first.shift[0] / pitch[0]));

    if (modular) {
        put_vectors(w, scan, SOURCES, 1, offsetof(struct fbp_view, s));
        put_vectors(w, scan, CENTERS, 1, offsetof(struct fbp_view, d));
        put_vectors(w, scan, ROW_VECTORS, pitch[1], offsetof(struct fbp_view, v));
        put_vectors(w, scan, COLUMN_VECTORS, pitch[0], offsetof(struct fbp_view, u));
        return;
    }
    fprintf(w->f, "%s = ", keys[PHIS].name);
    for (size_t k = 0; k < scan->n_views; k++) {
        fputs(k ? ", " : "", w->f);
        fbp_put_number(w, b->phis[k] * 180 / FBP_PI);
    }
    fputc('\n', w->f);
    if (b->type == PARALLEL)
        return;
    put(w, SOD, b->first.sod);
    put(w, SDD, b->first.sdd);
    put(w, TAU, b->first.tau);
    if (b->type == FAN)
        return;
    put(w, TILT, b->first.tilt_rad * 180 / FBP_PI);
    put(w, PITCH, b->pitch);
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

    /* Slice k of a parallel or fan beam is row k: the detector determines the slices. */
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
