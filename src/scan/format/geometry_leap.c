/* LEAP's parameter files, "key = value": parallel, fan, cone and modular beams.
 * LEAP, src/leapctype.py (load_param), src/file_io.cpp (saveParametersToFile), src/parameters.cpp
 * (set_angles, set_helicalPitch, convert_conebeam_to_modularbeam, z_0). */
#include "scan/format/geometry_leap.h"
#include "scan/file/geometry_format.h"
#include "scan/file/geometry_upright.h"

#include "array/file/bytes.h"
#include "base/base.h"
#include "base/math.h"
#include "scan/file/scan_notes.h"

#include <stdio.h>
#include <string.h>

enum { MAX_BYTES = 1 << 28 };

static const double DEGREE = FBP_PI / 180;

struct file {
    const char *path;
    char *value[FBP_LEAP_N_KEYS]; /* inside the file's text; NULL: the key is not there */
    enum fbp_leap_beam beam;
};

/* Cut blanks off both ends. */
static char *trim(char *text, char *end)
{
    while (end > text && strchr(" \t\r", end[-1]))
        end--;
    *end = '\0';
    return text + strspn(text, " \t\r");
}

static void take_line(struct file *f, char *line)
{
    char *equals = strchr(line, '=');

    if (*line == '#' || !equals)
        return;
    const char *key = trim(line, equals);
    char *value = trim(equals + 1, equals + 1 + strcspn(equals + 1, "="));
    for (int i = 0; i < FBP_LEAP_N_KEYS; i++)
        if (strcmp(key, fbp_leap_keys[i].name) == 0 ||
            (fbp_leap_keys[i].old && strcmp(key, fbp_leap_keys[i].old) == 0))
            f->value[i] = value;
}

static void take_lines(struct file *f, char *text)
{
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        take_line(f, line);
    }
}

static bool is_given(const struct file *f, enum fbp_leap_key key)
{
    return f->value[key] && *f->value[key];
}

static fbp_status missing(const struct file *f, enum fbp_leap_key key)
{
    return fbp_fail(FBP_ERR_INVALID, "%s: %s is missing: add it", f->path, fbp_leap_keys[key].name);
}

/* Exactly n numbers with commas or blanks between them. */
static fbp_status numbers(const struct file *f, enum fbp_leap_key key, double *out, size_t n)
{
    const char *text = f->value[key];

    if (!is_given(f, key))
        return missing(f, key);
    for (size_t i = 0; i < n; i++) {
        char *end = NULL;
        out[i] = fbp_number(text, &end);
        if (end == text && *text == '\0')
            return fbp_fail(FBP_ERR_INVALID, "%s: %s has %zu numbers, expected %zu: correct it",
                            f->path, fbp_leap_keys[key].name, i, n);
        if (end == text || !isfinite(out[i]))
            return fbp_fail(FBP_ERR_INVALID, "%s: %s: found \"%.20s\", expected a number", f->path,
                            fbp_leap_keys[key].name, text);
        text = end + strspn(end, " \t,");
    }
    if (*text)
        return fbp_fail(FBP_ERR_INVALID, "%s: %s: found \"%.20s\" behind %zu numbers: remove it",
                        f->path, fbp_leap_keys[key].name, text, n);
    return FBP_OK;
}

/* A number if the key is there. */
static fbp_status number(const struct file *f, enum fbp_leap_key key, double *out)
{
    return is_given(f, key) ? numbers(f, key, out, 1) : FBP_OK;
}

static fbp_status positive(const struct file *f, enum fbp_leap_key key, double *out)
{
    FBP_TRY(numbers(f, key, out, 1));
    return *out > 0 ? FBP_OK
                    : fbp_fail(FBP_ERR_INVALID, "%s: %s: found %g, expected a positive number",
                               f->path, fbp_leap_keys[key].name, *out);
}

static fbp_status count(const struct file *f, enum fbp_leap_key key, size_t *out)
{
    const double most = 1e6; /* of views, there are lists of numbers behind it */
    double x = 0;

    FBP_TRY(numbers(f, key, &x, 1));
    if (!(x >= 1 && x <= most && x == floor(x)))
        return fbp_fail(FBP_ERR_INVALID, "%s: %s: found %g, expected a whole number from 1 to %g",
                        f->path, fbp_leap_keys[key].name, x, most);
    *out = (size_t)x;
    return FBP_OK;
}

static fbp_status read_beam(struct file *f)
{
    static const char *const beams[] = {"parallel", "fan", "cone", "modular"};
    const char *value = f->value[FBP_LEAP_GEOMETRY];

    if (!value)
        return missing(f, FBP_LEAP_GEOMETRY);
    for (int i = 0; i < 4; i++)
        if (strcmp(value, beams[i]) == 0) {
            f->beam = (enum fbp_leap_beam)i;
            return FBP_OK;
        }
    return fbp_fail(FBP_ERR_UNSUPPORTED,
                    "%s: geometry: found \"%.40s\", expected parallel, fan, cone or modular",
                    f->path, value);
}

/* What flat panels and line integrals are not. */
static fbp_status refuse_others(const struct file *f)
{
    const char *detector = f->value[FBP_LEAP_DETECTOR];
    double symmetry = 0, mu = 0;

    if (detector && strcmp(detector, "flat") != 0)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: detectorType: found \"%.40s\": only flat detectors can be read",
                        f->path, detector);
    FBP_TRY(number(f, FBP_LEAP_SYMMETRY, &symmetry));
    if (fabs(symmetry) > 0 && fabs(symmetry) < 90)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: axisOfSymmetry: found %g: one view of a symmetric object is not "
                        "enough here",
                        f->path, symmetry);
    FBP_TRY(number(f, FBP_LEAP_MU, &mu));
    if (fabs(mu) > 0)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: muCoeff: found %g: attenuated projections cannot be reconstructed",
                        f->path, mu);
    return FBP_OK;
}

/* In degrees; of even angles LEAP keeps the range alone. */
static fbp_status read_angles(const struct file *f, double *out, size_t n)
{
    double range = 0;

    if (is_given(f, FBP_LEAP_PHIS))
        return numbers(f, FBP_LEAP_PHIS, out, n);
    if (!is_given(f, FBP_LEAP_RANGE))
        return missing(f, FBP_LEAP_PHIS);
    FBP_TRY(numbers(f, FBP_LEAP_RANGE, &range, 1));
    for (size_t k = 0; k < n; k++)
        out[k] = (double)k * range / (double)n;
    return FBP_OK;
}

/* All but the angle and the height of a helix. */
static fbp_status read_circle(const struct file *f, const struct fbp_panel *panel,
                              struct fbp_upright *out)
{
    double column = 0, row = 0, tilt = 0;

    FBP_TRY(positive(f, FBP_LEAP_PIXEL_WIDTH, &out->pitch[0]));
    FBP_TRY(positive(f, FBP_LEAP_PIXEL_HEIGHT, &out->pitch[1]));
    FBP_TRY(numbers(f, FBP_LEAP_CENTER_COLUMN, &column, 1));
    FBP_TRY(numbers(f, FBP_LEAP_CENTER_ROW, &row, 1));
    out->shift[0] = (((double)panel->n_columns - 1) / 2 - column) * out->pitch[0];
    out->shift[1] = (((double)panel->n_rows - 1) / 2 - row) * out->pitch[1];
    if (f->beam == FBP_LEAP_PARALLEL)
        return FBP_OK;
    FBP_TRY(positive(f, FBP_LEAP_SOD, &out->sod));
    FBP_TRY(positive(f, FBP_LEAP_SDD, &out->sdd));
    FBP_TRY(number(f, FBP_LEAP_TAU, &out->tau));
    if (f->beam == FBP_LEAP_FAN) { /* its rays are horizontal: the source is as high as the row */
        out->height = out->shift[1];
        out->shift[1] = 0;
        return FBP_OK;
    }
    FBP_TRY(number(f, FBP_LEAP_TILT, &tilt));
    out->tilt_rad = tilt * DEGREE;
    return FBP_OK;
}

static fbp_status circle_views(const struct file *f, struct fbp_scan *out)
{
    struct fbp_upright p = {0};
    double *phis = NULL, pitch = 0;
    const size_t n = out->n_views;
    fbp_status st;

    FBP_TRY(fbp_calloc((void **)&phis, n, sizeof *phis, "angles"));
    FBP_TRY_GOTO(read_angles(f, phis, n));
    FBP_TRY_GOTO(read_circle(f, &out->panel, &p));
    if (f->beam == FBP_LEAP_CONE)
        FBP_TRY_GOTO(number(f, FBP_LEAP_PITCH, &pitch));
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

/* One of the four lists of vectors, to `field` of every view. */
static fbp_status read_vectors(const struct file *f, enum fbp_leap_key key, double scale,
                               struct fbp_scan *out, size_t field)
{
    double *list = NULL;

    FBP_TRY(fbp_calloc((void **)&list, out->n_views, 3 * sizeof *list, "vectors"));
    const fbp_status st = numbers(f, key, list, 3 * out->n_views);
    for (size_t k = 0; st == FBP_OK && k < out->n_views; k++) {
        double *to = (double *)(void *)((char *)&out->views[k] + field);
        for (size_t i = 0; i < 3; i++)
            to[i] = scale * list[3 * k + i];
    }
    free(list);
    return st;
}

/* rowVectors point from row to row, colVectors from column to column. */
static fbp_status modular_views(const struct file *f, struct fbp_scan *out)
{
    double width = 0, height = 0;

    FBP_TRY(positive(f, FBP_LEAP_PIXEL_WIDTH, &width));
    FBP_TRY(positive(f, FBP_LEAP_PIXEL_HEIGHT, &height));
    FBP_TRY(read_vectors(f, FBP_LEAP_SOURCES, 1, out, offsetof(struct fbp_view, s)));
    FBP_TRY(read_vectors(f, FBP_LEAP_CENTERS, 1, out, offsetof(struct fbp_view, d)));
    FBP_TRY(read_vectors(f, FBP_LEAP_COLUMN_VECTORS, width, out, offsetof(struct fbp_view, u)));
    return read_vectors(f, FBP_LEAP_ROW_VECTORS, height, out, offsetof(struct fbp_view, v));
}

/* Centred on the offsets; of parallel and fan beams slice k is row k of the detector. */
static fbp_status read_volume(const struct file *f, const struct fbp_panel *panel,
                              struct fbp_grid *out)
{
    double row = 0;

    if (!is_given(f, FBP_LEAP_NX))
        return FBP_OK;
    FBP_TRY(count(f, FBP_LEAP_NX, &out->n[0]));
    FBP_TRY(count(f, FBP_LEAP_NY, &out->n[1]));
    FBP_TRY(count(f, FBP_LEAP_NZ, &out->n[2]));
    FBP_TRY(positive(f, FBP_LEAP_VOXEL_WIDTH, &out->voxel_mm[0]));
    FBP_TRY(positive(f, FBP_LEAP_VOXEL_HEIGHT, &out->voxel_mm[2]));
    out->voxel_mm[1] = out->voxel_mm[0];
    FBP_TRY(number(f, FBP_LEAP_X, &out->centre_mm[0]));
    FBP_TRY(number(f, FBP_LEAP_Y, &out->centre_mm[1]));
    FBP_TRY(number(f, FBP_LEAP_Z, &out->centre_mm[2]));
    if (f->beam > FBP_LEAP_FAN)
        return FBP_OK;
    FBP_TRY(numbers(f, FBP_LEAP_CENTER_ROW, &row, 1));
    if (out->n[2] != panel->n_rows)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: numZ is %zu, numRows %zu: LEAP has one slice a row of such a beam: "
                        "correct one of them",
                        f->path, out->n[2], panel->n_rows);
    out->centre_mm[2] = (((double)out->n[2] - 1) / 2 - row) * out->voxel_mm[2];
    return FBP_OK;
}

/* Numbers that LEAP goes by for other beams alone, as far as is known. */
static fbp_status note_ignored(const struct file *f, struct fbp_scan *out)
{
    const bool cone = f->beam == FBP_LEAP_CONE, circle = f->beam != FBP_LEAP_MODULAR;
    const struct {
        enum fbp_leap_key key;
        bool ignored;
    } list[] = {{FBP_LEAP_TILT, circle && !cone},
                {FBP_LEAP_PITCH, circle && !cone},
                {FBP_LEAP_TAU, f->beam == FBP_LEAP_PARALLEL}};

    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        double x = 0;
        if (!list[i].ignored)
            continue;
        FBP_TRY(number(f, list[i].key, &x));
        if (fabs(x) > 0)
            FBP_TRY(fbp_scan_note_ignored(out, f->path, fbp_leap_keys[list[i].key].name,
                                          f->value[list[i].key],
                                          "it is for other beams than this"));
    }
    return FBP_OK;
}

static fbp_status read(struct file *f, struct fbp_scan *out, const struct fbp_geometry_known *known)
{
    size_t n = 0;

    FBP_TRY(read_beam(f));
    FBP_TRY(refuse_others(f));
    FBP_TRY(count(f, FBP_LEAP_ANGLES, &n));
    FBP_TRY(count(f, FBP_LEAP_ROWS, &out->panel.n_rows));
    FBP_TRY(count(f, FBP_LEAP_COLUMNS, &out->panel.n_columns));
    if (f->beam == FBP_LEAP_FAN && out->panel.n_rows > 1)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: a fan beam of %zu rows: LEAP's rays stay in their row's plane, here "
                        "they spread: cut out rows, or measure a cone",
                        f->path, out->panel.n_rows);
    out->kind = f->beam == FBP_LEAP_PARALLEL ? FBP_PARALLEL : FBP_CONE;
    out->row_order = FBP_ROWS_BOTTOM_UP;
    FBP_TRY(fbp_geometry_make_views(out, f->path, known, n));
    FBP_TRY(f->beam == FBP_LEAP_MODULAR ? modular_views(f, out) : circle_views(f, out));
    FBP_TRY(note_ignored(f, out));
    return read_volume(f, &out->panel, &out->volume);
}

static fbp_status load(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known)
{
    struct file f = {.path = path};
    char *text = NULL;
    size_t n = 0;

    FBP_TRY(fbp_read_text(path, MAX_BYTES, &text, &n));
    take_lines(&f, text);
    const fbp_status st = read(&f, out, known);
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

const struct fbp_geometry_format fbp_geometry_leap = {
    .name = "leap",
    .about = "LEAP's parameter file",
    .extensions = ".cfg",
    .detect = detect,
    .load = load,
    .save = fbp_leap_save,
    .saves = FBP_KINDS_OF_LINES,
};
