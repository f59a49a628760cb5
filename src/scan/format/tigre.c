/* Importer and exporter of TIGRE's geometry (fbp_geometry_tigre): read from JSON (a dictionary of
 * the attributes of its Python class, with its angles) or from MAT files (a struct `geo` and
 * `angles`), written as JSON. The reference for the meaning of the numbers is TIGRE,
 * Common/CUDA/voxel_backprojection.cu.
 *
 * Names and order are those of the Python class: (V, U) of the detector, (z, y, x) of the volume,
 * rotDetector about (x, y, z).  MATLAB's order is the reverse except for rotDetector.
 * Used by: scan/geometry_file.c. */
#include "scan/format/importers.h"

#include "array/array.h"
#include "array/format/mat.h"
#include "base/math.h"
#include "base/text.h"
#include "geometry/view.h"
#include "scan/file/text.h"

#include <string.h>

enum { MAX_VALUES = 3 << 20 };

/* Smaller angles count as 0 [rad]. */
static const double NO_TURN = 1e-12;
/* Greatest relative difference between values of views that are written as one value. */
static const double SAME = 1e-13;
/* Tolerance of right angles [rad]. */
static const double SQUARE = 1e-9;

/* n rows of `width` numbers: one row for all views, or one row per view.  v NULL: all zeros. */
struct list {
    double *v;
    size_t n, width;
};

enum { N_DETECTOR, D_DETECTOR, S_DETECTOR, N_VOXEL, D_VOXEL, S_VOXEL, N_SIZES };
enum { DSD, DSO, COR, OFF_DETECTOR, OFF_ORIGIN, ROT_DETECTOR, N_LISTS };

struct tigre {
    bool parallel;
    double sizes[N_SIZES][3]; /* 0: not given */
    struct list lists[N_LISTS];
    struct list angles; /* angles [rad]: one per view, or three (rotations about z, y, z) */
};

/* Members of TIGRE's geometry in JSON and MAT files; width: count of numbers per row. */
static const struct {
    const char *name;
    size_t width;
} sizes[N_SIZES] = {{"nDetector", 2}, {"dDetector", 2}, {"sDetector", 2},
                    {"nVoxel", 3},    {"dVoxel", 3},    {"sVoxel", 3}},
  lists[N_LISTS] = {{"DSD", 1},         {"DSO", 1},       {"COR", 1},
                    {"offDetector", 2}, {"offOrigin", 3}, {"rotDetector", 3}};

/* Row k of a list; the single row if it applies to all views; zeros if the list was not given. */
static void row_of(const struct list *list, size_t k, double out[3])
{
    out[0] = out[1] = out[2] = 0;
    for (size_t i = 0; list->v && i < list->width; i++)
        out[i] = list->v[(list->n == 1 ? 0 : k) * list->width + i];
}

/* Check n (number), d (pitch) and s = n d (size) of pixels or voxels; d or s may be missing. pitch:
 * receives d, or s / n. */
static fbp_status complete(const char *path, const struct tigre *t, size_t first, double *pitch)
{
    const double *n = t->sizes[first], *d = t->sizes[first + 1], *s = t->sizes[first + 2];
    const char *name = sizes[first].name + 1;

    for (size_t i = 0; i < sizes[first].width; i++) {
        pitch[i] = d[i] > 0 ? d[i] : s[i] / n[i];
        if (!(n[i] >= 1 && n[i] <= 1e9 && n[i] == floor(n[i])))
            return FBP_INVALID("%s: n%s: found %g, expected whole numbers from 1", path, name,
                               n[i]);
        if (!(pitch[i] > 0 && isfinite(pitch[i])))
            return FBP_INVALID("%s: d%s: found %g, expected positive numbers (mm)", path, name,
                               pitch[i]);
        if (s[i] > 0 && !(fabs(n[i] * pitch[i] - s[i]) <= 1e-6 * s[i]))
            return FBP_INVALID("%s: s%s is %g, but n%s times d%s is %g; correct one of them", path,
                               name, s[i], name, name, n[i] * pitch[i]);
    }
    return FBP_OK;
}

/* R: rotation about axes[2] by angles[2], then about axes[1] by angles[1], then about axes[0] by
 * angles[0]; axis 0: x, 1: y, 2: z. */
static void turn(const int axes[3], const double angles[3], double R[9])
{
    double one[3][9], AB[9];

    for (int i = 0; i < 3; i++)
        fbp_turn_about((const double[3]){axes[i] == 0, axes[i] == 1, axes[i] == 2}, angles[i],
                       one[i]);
    fbp_matmul(one[0], one[1], AB);
    fbp_matmul(AB, one[2], R);
}

static const int zyz[3] = {2, 1, 2}, zyx[3] = {2, 1, 0};

static fbp_status view_of(const struct tigre *t, const char *path, size_t k, const double pitch[2],
                          struct fbp_view *out)
{
    double angle[3], rot[3], off[3], origin[3], origin0[3], cor[3], dso[3], dsd[3], E[9], R[9],
        ER[9];

    row_of(&t->angles, k, angle);
    row_of(&t->lists[ROT_DETECTOR], k, rot);
    row_of(&t->lists[OFF_DETECTOR], k, off);
    row_of(&t->lists[OFF_ORIGIN], k, origin);
    row_of(&t->lists[OFF_ORIGIN], 0, origin0);
    row_of(&t->lists[COR], k, cor);
    row_of(&t->lists[DSO], k, dso);
    row_of(&t->lists[DSD], k, dsd);

    /* Refuse geometries that TIGRE's projector and backprojector interpret differently. */
    const bool turned =
        !(fabs(rot[0]) <= NO_TURN && fabs(rot[1]) <= NO_TURN && fabs(rot[2]) <= NO_TURN);
    if (t->parallel && turned)
        return FBP_UNSUPPORTED("%s: view %zu: rotDetector is ambiguous in a parallel beam; give "
                               "three angles per view instead",
                               path, k);
    if (fabs(cor[0]) > 0 && turned)
        return FBP_UNSUPPORTED(
            "%s: view %zu: COR with rotDetector is ambiguous, because TIGRE's projector and "
            "backprojector differ; use offDetector for the shift, or give the views in a scan file",
            path, k);
    if (fabs(cor[0]) > 0 && fmax(fabs(angle[1]), fabs(angle[2])) > NO_TURN)
        return FBP_UNSUPPORTED(
            "%s: view %zu: COR with a second or third angle is ambiguous, because TIGRE's "
            "projector and backprojector differ; use offDetector for the shift",
            path, k);
    if (!t->parallel && !(dso[0] > 0 && dsd[0] > 0))
        return FBP_INVALID("%s: view %zu: DSO %g, DSD %g: expected positive distances (mm)", path,
                           k, dso[0], dsd[0]);

    turn(zyz, angle, E);
    turn(zyx, (const double[3]){rot[2], rot[1], rot[0]}, R);
    fbp_matmul(E, R, ER);
    fbp_turned(E, (double[3]){t->parallel ? 1 : dso[0], t->parallel ? 0 : cor[0], 0}, out->s);
    fbp_turned(E, (double[3]){dso[0] - dsd[0], off[1] + cor[0], off[0]}, out->d);
    fbp_turned(ER, (double[3]){0, pitch[1], 0}, out->u);
    fbp_turned(ER, (double[3]){0, 0, pitch[0]}, out->v);
    for (int i = 0; i < 3; i++) { /* TIGRE shifts the volume: shift the view by -shift */
        const double shift = origin[2 - i] - origin0[2 - i];
        out->d[i] -= shift;
        if (!t->parallel)
            out->s[i] -= shift;
    }
    return FBP_OK;
}

/* JSON. */

/* Read one number, a list of numbers, or a list of lists of `width` numbers each. */
static fbp_status read_json_list(const struct fbp_json *o, const char *key, size_t width,
                                 struct list *out)
{
    const cJSON *value = fbp_json_get(o, key);

    if (!value || cJSON_IsNull(value))
        return FBP_OK;
    out->width = width;
    if (cJSON_IsArray(value) && cJSON_IsArray(value->child))
        return fbp_json_table(o, key, width, &out->v, &out->n);
    FBP_TRY(fbp_json_list(o, key, &fbp_range_finite, &out->v, &out->n));
    if (width == 1)
        return FBP_OK;
    if (out->n != width)
        return fbp_json_wrong(o, key,
                              width == 2 ? "two numbers, or a list of two per view"
                                         : "three numbers, or a list of three per view");
    out->n = 1;
    return FBP_OK;
}

static fbp_status read_json(struct tigre *t, const struct fbp_json *o)
{
    static const char *const keys[] = {
        "mode",        "nVoxel",      "sVoxel", "dVoxel", "nDetector", "sDetector",
        "dDetector",   "DSO",         "DSD",    "COR",    "accuracy",  "offOrigin",
        "offDetector", "rotDetector", "angles", "n_proj", "filter",    "vectors",
    };
    static const char *const modes[] = {"cone", "parallel"};
    const struct fbp_range extent = {FBP_PITCH_MM_MIN, FBP_DISTANCE_MM_MAX, false,
                                     "a number from 1e-9 to 1e12"};
    size_t mode = 0, n = 0;

    if (!cJSON_IsObject(o->object))
        return FBP_INVALID("%s: expected an object in braces; check that it is a geometry of TIGRE",
                           o->file);
    FBP_TRY(fbp_json_keys(o, keys, N_OF(keys)));
    const cJSON *vectors = fbp_json_get(o, "vectors"), *angles = fbp_json_get(o, "angles");
    if (vectors && !cJSON_IsNull(vectors))
        return fbp_json_wrong(o, "vectors", "null, because views follow from angles and distances");
    if (!cJSON_IsNull(fbp_json_get(o, "mode")))
        FBP_TRY(fbp_json_choice(o, "mode", modes, 2, &mode));
    t->parallel = mode == 1;
    for (size_t i = 0; i < N_SIZES; i++)
        if (!cJSON_IsNull(fbp_json_get(o, sizes[i].name)))
            FBP_TRY(fbp_json_numbers(o, sizes[i].name, &extent, sizes[i].width, sizes[i].width,
                                     t->sizes[i], &n));
    for (size_t i = 0; i < N_LISTS; i++)
        FBP_TRY(read_json_list(o, lists[i].name, lists[i].width, &t->lists[i]));
    const cJSON *first = cJSON_IsArray(angles) ? angles->child : NULL;
    const bool three = cJSON_IsArray(first) && cJSON_GetArraySize(first) == 3;
    return read_json_list(o, "angles", three ? 3 : 1, &t->angles);
}

/* MAT files: a struct `geo` as MATLAB saves it (column vectors, x before y), or as Python saves it
 * (row vectors, in the order of TIGRE's Python class), and `angles`. */

struct mat {
    const char *path;
    const struct fbp_mat_array *geo;
    bool columns; /* true: MATLAB's column vectors */
};

static fbp_status damaged(const char *path, const char *name, const char *expected)
{
    return FBP_INVALID("%s: geo.%s: expected %s", path, name, expected);
}

static bool is_matrix(const struct fbp_mat_array *v)
{
    return v && v->class >= FBP_MX_DOUBLE && v->class <= FBP_MX_UINT64 && v->rank == 2 && v->real &&
           !v->complex && v->count <= MAX_VALUES;
}

/* Read n rows of `width` numbers, one row per view: from a matrix with `width` rows (one column per
 * view), or with `width` columns as Python saves it.  reverse: in MATLAB's files, the numbers of a
 * view are in reverse order (x, y, z). */
static fbp_status read_matrix(const struct mat *m, const char *name, const struct fbp_mat_array *v,
                              size_t width, bool reverse, struct list *out)
{
    if (!is_matrix(v))
        return damaged(m->path, name, "a real matrix of numbers");
    const size_t rows = v->sizes[0], columns = v->sizes[1];
    const bool by_column = width == 1 || (m->columns ? rows == width : columns != width);
    const size_t n = width == 1 ? rows * columns : by_column ? columns : rows;

    if (width > 1 && (by_column ? rows : columns) != width)
        return damaged(m->path, name,
                       width == 2 ? "two numbers, or two per view"
                                  : "three numbers, or three per view");
    FBP_TRY(fbp_calloc((void **)&out->v, n, width * sizeof *out->v, "a list of a MAT file"));
    out->n = n;
    out->width = width;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < width; i++) {
            const double x = fbp_mat_element(v, by_column ? k * width + i : i * rows + k);
            if (!isfinite(x))
                return damaged(m->path, name, "finite numbers");
            out->v[k * width + (reverse && m->columns ? width - 1 - i : i)] = x;
        }
    return FBP_OK;
}

static fbp_status read_mat_list(const struct mat *m, const char *name, size_t width, bool reverse,
                                struct list *out)
{
    const struct fbp_mat_array *v = fbp_mat_field(m->geo, name);
    const bool none = !v || v->class == 0 || (v->rank > 0 && v->sizes[0] == 0);

    return none ? FBP_OK : read_matrix(m, name, v, width, reverse, out);
}

static const struct fbp_mat_array *holder_of_geo(const struct fbp_mat *file)
{
    size_t n;
    const struct fbp_mat_array *v = fbp_mat_list(file, &n);

    for (size_t i = 0; i < n; i++)
        if (fbp_mat_field(&v[i], "geo"))
            return &v[i];
    return NULL;
}

static fbp_status open_mat(const char *path, struct fbp_mat **out)
{
    bool is_new = false;

    FBP_TRY(fbp_mat_is_hdf5(path, &is_new));
    if (is_new)
        return FBP_UNSUPPORTED("%s: geometries in MAT files of version 7.3 are not supported; save "
                               "it by save(…, 'geo', 'angles', '-v7')",
                               path);
    return fbp_mat_open(path, out);
}

static fbp_status read_mat(struct tigre *t, const char *path)
{
    struct fbp_mat_array *geo = NULL, *angles = NULL;
    const struct fbp_mat_array *holder, *a;
    struct mat m = {.path = path};
    struct fbp_mat *file;
    char text[12] = "";
    fbp_status st;

    FBP_TRY(open_mat(path, &file));
    FBP_TRY_GOTO(fbp_mat_read(file, "geo", &geo));
    FBP_TRY_GOTO(fbp_mat_read(file, "angles", &angles));
    const bool is_struct = geo && geo->class == FBP_MX_STRUCT;
    holder = is_struct ? NULL : holder_of_geo(file);
    if (holder)
        FBP_TRY_GOTO(FBP_INVALID("%s: geo is inside the struct %.60s; save it separately by "
                                 "save(…, '-struct', '%.60s', 'geo', 'angles')",
                                 path, holder->name, holder->name));
    if (!is_struct)
        FBP_TRY_GOTO(
            FBP_INVALID("%s: has no struct geo; save a geometry of TIGRE by save(…, 'geo', "
                        "'angles'), or name an array in the MAT file as projections in a scan file",
                        path));
    m.geo = geo;
    a = angles ? angles : fbp_mat_field(geo, "angles");
    if (!a)
        FBP_TRY_GOTO(
            FBP_INVALID("%s: contains geo, but no angles; save the angles, too (radians)", path));
    const struct fbp_mat_array *pixels = fbp_mat_field(geo, "nDetector");
    const struct fbp_mat_array *mode = fbp_mat_field(geo, "mode");
    if (!is_matrix(pixels) || pixels->sizes[0] * pixels->sizes[1] != 2)
        FBP_TRY_GOTO(damaged(path, "nDetector", "two numbers"));
    m.columns = pixels->sizes[0] == 2;
    if (mode && mode->class == FBP_MX_CHAR && mode->real) {
        fbp_mat_text_of(mode, text, sizeof text);
        t->parallel = strcmp(text, "parallel") == 0;
        if (!t->parallel && strcmp(text, "cone") != 0)
            FBP_TRY_GOTO(damaged(path, "mode", "\"cone\" or \"parallel\""));
    }
    for (size_t i = 0; i < N_SIZES; i++) {
        struct list list = {0};
        st = read_mat_list(&m, sizes[i].name, sizes[i].width, true, &list);
        if (st == FBP_OK && list.v && list.n != 1)
            st = damaged(path, sizes[i].name, "one number per axis");
        if (st == FBP_OK && list.v)
            memcpy(t->sizes[i], list.v, sizes[i].width * sizeof *list.v);
        free(list.v);
        FBP_TRY_GOTO(st);
    }
    for (size_t i = 0; i < N_LISTS; i++) {
        const bool reverse = lists[i].width > 1 && strcmp(lists[i].name, "rotDetector") != 0;
        FBP_TRY_GOTO(read_mat_list(&m, lists[i].name, lists[i].width, reverse, &t->lists[i]));
    }
    /* matrix of 1 x n or n x 1; with three angles per view: 3 x n in MATLAB, n x 3 in Python */
    const bool one = is_matrix(a) && (a->sizes[0] == 1 || a->sizes[1] == 1);
    st = read_matrix(&m, "angles", a, one ? 1 : 3, false, &t->angles);
fail:
    fbp_mat_free(geo);
    fbp_mat_free(angles);
    fbp_mat_close(file);
    return st;
}

/* Set *is to true for a MAT file with a struct `geo`.  A `geo` inside another struct counts, too:
 * read_mat() refuses it with a message that contains the remedy. */
static fbp_status probe(const char *path, const unsigned char *head, size_t n, bool *is)
{
    static const char magic[] = "MATLAB ";
    struct fbp_mat *file;

    if (n < 128 || memcmp(head, magic, sizeof magic - 1) != 0)
        return FBP_OK;
    FBP_TRY(open_mat(path, &file));
    const struct fbp_mat_array *geo = fbp_mat_find(file, "geo");
    *is = (geo && geo->class == FBP_MX_STRUCT) || holder_of_geo(file);
    fbp_mat_close(file);
    return FBP_OK;
}

static bool detect(const char *path, const unsigned char *head, size_t n)
{
    (void)path;
    return memmem(head, n, "\"DSD\"", 5) && memmem(head, n, "\"nDetector\"", 11);
}

static fbp_status load(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known)
{
    struct tigre t = {0};
    double pitch[2], voxel[3], centre[3];
    cJSON *root = NULL;
    fbp_status st;

    if (fbp_has_extension(path, ".mat")) {
        FBP_TRY_GOTO(read_mat(&t, path));
    } else {
        FBP_TRY_GOTO(fbp_json_read(path, &root));
        FBP_TRY_GOTO(read_json(&t, &(const struct fbp_json){path, "", root}));
    }
    if (!t.angles.v)
        FBP_TRY_GOTO(
            FBP_INVALID("%s: angles is missing; give one angle per view, in radians", path));
    for (size_t i = 0; i < N_LISTS; i++)
        if (t.lists[i].v && t.lists[i].n != 1 && t.lists[i].n != t.angles.n)
            FBP_TRY_GOTO(FBP_INVALID(
                "%s: %s: has %zu entries, but angles has %zu; give one for all, or one per view",
                path, lists[i].name, t.lists[i].n, t.angles.n));
    for (size_t i = 0; i < 2 && !t.parallel; i++)
        if (!t.lists[i].v)
            FBP_TRY_GOTO(FBP_INVALID("%s: %s is missing; a cone beam needs this distance (mm)",
                                     path, lists[i].name));
    FBP_TRY_GOTO(complete(path, &t, N_DETECTOR, pitch));
    out->kind = t.parallel ? FBP_PARALLEL : FBP_CONE;
    out->panel = (struct fbp_panel){(size_t)t.sizes[N_DETECTOR][1], (size_t)t.sizes[N_DETECTOR][0]};
    out->row_order = FBP_ROWS_BOTTOM_UP; /* TIGRE's order in image files of any format */
    FBP_TRY_GOTO(fbp_geometry_make_views(out, path, known, t.angles.n));
    for (size_t k = 0; k < out->n_views; k++)
        FBP_TRY_GOTO(view_of(&t, path, k, pitch, &out->views[k]));

    if (t.sizes[N_VOXEL][0] > 0 && (t.sizes[D_VOXEL][0] > 0 || t.sizes[S_VOXEL][0] > 0)) {
        FBP_TRY_GOTO(complete(path, &t, N_VOXEL, voxel));
        row_of(&t.lists[OFF_ORIGIN], 0, centre);
        for (int i = 0; i < 3; i++) {
            out->volume.n[i] = (size_t)t.sizes[N_VOXEL][2 - i];
            out->volume.voxel_mm[i] = voxel[2 - i];
            out->volume.centre_mm[i] = centre[2 - i];
        }
    }
fail:
    cJSON_Delete(root);
    for (size_t i = 0; i < N_LISTS; i++)
        free(t.lists[i].v);
    free(t.angles.v);
    return st;
}

/* Writing: three angles define the axes E of a view; in E the source is at (DSO, 0, 0), and
 * rotDetector rotates the panel. */

struct pose {
    double dso[1], dsd[1], off[2], rot[3], angle[3];
};

static void from_columns(const double a[3], const double b[3], const double c[3], double out[9])
{
    for (size_t i = 0; i < 3; i++) {
        out[3 * i] = a[i];
        out[3 * i + 1] = b[i];
        out[3 * i + 2] = c[i];
    }
}

static fbp_status cannot(const char *path, size_t k, const char *what)
{
    return FBP_UNSUPPORTED("%s: view %zu: TIGRE cannot store %s; write a scan file or matrices",
                           path, k, what);
}

static fbp_status pose_of(const char *path, const struct fbp_scan *scan, size_t k, struct pose *out)
{
    const struct fbp_view *view = &scan->views[k];
    double s[3], u[3], v[3], n[3], E[9], inverse[9], panel[9], R[9], d[3];

    *out = (struct pose){.dso = {0}};
    FBP_TRY(fbp_geometry_check_square(scan, path, k, "TIGRE"));
    memcpy(s, view->s, sizeof s);
    memcpy(u, view->u, sizeof u);
    memcpy(v, view->v, sizeof v);
    fbp_normalise(s);
    fbp_normalise(u);
    fbp_normalise(v);
    fbp_cross(u, v, n);

    if (!fbp_kind_has_source(scan->kind)) {
        /* A parallel beam has no rotDetector: s, u and v are the columns of the rotation
         * E = Rz(a) Ry(b) Rz(c) by the three angles of the view. */
        if (!(fbp_dot(n, s) > 1 - SQUARE * SQUARE - 1e-15))
            return cannot(path, k, "a parallel beam on a panel that is turned or mirrored");
        from_columns(s, u, v, E);
        const double across = hypot(E[2], E[5]);
        if (across > 1e-14) {
            out->angle[0] = atan2(E[5], E[2]);
            out->angle[1] = atan2(across, E[8]);
            out->angle[2] = atan2(E[7], -E[6]);
        } else {
            out->angle[0] = E[8] > 0 ? atan2(E[3], E[0]) : atan2(-E[1], E[4]);
            out->angle[1] = E[8] > 0 ? 0 : FBP_PI;
            out->angle[2] = 0;
        }
        out->off[0] = fbp_dot(view->d, v);
        out->off[1] = fbp_dot(view->d, u);
        out->dsd[0] = -fbp_dot(view->d, s);
        return FBP_OK;
    }

    out->angle[0] = atan2(s[1], s[0]);
    out->angle[1] = asin(fmin(fmax(0 - s[2], -1), 1));
    turn(zyz, out->angle, E);
    for (size_t i = 0; i < 9; i++)
        inverse[i] = E[3 * (i % 3) + i / 3];
    fbp_turned(inverse, view->d, d);
    from_columns(n, u, v, panel);
    fbp_matmul(inverse, panel, R);
    const double across = hypot(R[0], R[3]); /* R = Rz Ry Rx */
    out->rot[1] = atan2(0 - R[6], across);   /* 0, not -0 */
    if (across > 1e-14) {
        out->rot[0] = atan2(R[7], R[8]);
        out->rot[2] = atan2(R[3], R[0]);
    } else { /* rotations 0 and 2 are about one line: set rotation 0 to 0 */
        out->rot[0] = 0;
        out->rot[2] = atan2(-R[1], R[4]);
    }
    out->dso[0] = fbp_norm(view->s);
    out->dsd[0] = out->dso[0] - d[0];
    out->off[0] = d[2];
    out->off[1] = d[1];
    return out->dsd[0] > 0 ? FBP_OK : cannot(path, k, "a panel behind the source");
}

/* Write one member of all poses (TIGRE's parameters of a view): `width` numbers at byte `at` of
 * each pose.  If `once` is true and all poses agree, one row is written, else one row per pose. */
static void put_member(struct fbp_writer *w, const char *key, const struct pose *poses, size_t n,
                       size_t at, size_t width, bool once)
{
    const double *first = (const double *)((const char *)poses + at);
    size_t n_rows = once ? 1 : n;

    for (size_t k = 0; k < n; k++) {
        const double *v = (const double *)((const char *)&poses[k] + at);
        for (size_t i = 0; i < width; i++)
            if (!(fabs(v[i] - first[i]) <= SAME * fmax(1, fabs(first[i]))))
                n_rows = n;
    }
    const bool list = !once || n_rows > 1;
    fbp_put_key(w, key);
    for (size_t k = 0; k < n_rows; k++) {
        const double *v = (const double *)((const char *)&poses[k] + at);
        if (list)
            fputs(k == 0 ? "[" : (width == 1 && k % 8) ? ", " : ",\n    ", w->f);
        if (width == 1)
            fbp_put_number(w, v[0]);
        else
            fbp_put_numbers(w, v, width);
    }
    if (list)
        fputc(']', w->f);
}

/* Write numbers, sizes and extents (their product) of pixels or voxels in TIGRE's order: (v, u) of
 * pixels, (z, y, x) of voxels, the reverse of n[] and d[]. */
static void put_sizes(struct fbp_writer *w, const char *name, const size_t *n, const double *d,
                      size_t count)
{
    double v[3][3];
    char key[24];

    for (size_t i = 0; i < count; i++) {
        v[0][i] = (double)n[count - 1 - i];
        v[1][i] = d[count - 1 - i];
        v[2][i] = v[0][i] * v[1][i];
    }
    for (int i = 0; i < 3; i++) {
        snprintf(key, sizeof key, "%c%s", "nds"[i], name);
        fbp_put_key_numbers(w, key, v[i], count);
    }
}

static fbp_status save(const struct fbp_scan *scan, const char *path)
{
    const size_t pixels[2] = {scan->panel.n_columns, scan->panel.n_rows};
    const double pitch[2] = {fbp_norm(scan->views[0].u), fbp_norm(scan->views[0].v)};
    const struct fbp_grid *g = &scan->volume;
    const double centre[3] = {g->centre_mm[2], g->centre_mm[1], g->centre_mm[0]};
    const size_t n = scan->n_views;
    struct pose *poses = NULL;
    struct fbp_writer w;
    bool plain = true; /* only the first angle is not 0 */
    fbp_status st;

    if (fbp_has_extension(path, ".mat"))
        return FBP_UNSUPPORTED("%s: TIGRE's MAT files can be read, but not written; name a .json "
                               "file and give --to-format tigre",
                               path);
    FBP_TRY(fbp_calloc((void **)&poses, n, sizeof *poses, "poses"));
    for (size_t k = 0; k < n; k++) {
        FBP_TRY_GOTO(pose_of(path, scan, k, &poses[k]));
        plain = plain && fabs(poses[k].angle[1]) <= SAME && fabs(poses[k].angle[2]) <= SAME;
    }
    FBP_TRY_GOTO(fbp_writer_open_json(&w, path));
    fbp_put_key_text(&w, "mode", fbp_kind_has_source(scan->kind) ? "cone" : "parallel");
    put_member(&w, "DSD", poses, n, offsetof(struct pose, dsd), 1, true);
    put_member(&w, "DSO", poses, n, offsetof(struct pose, dso), 1, true);
    put_sizes(&w, "Detector", pixels, pitch, 2);
    if (g->n[0]) {
        put_sizes(&w, "Voxel", g->n, g->voxel_mm, 3);
        fbp_put_key_numbers(&w, "offOrigin", centre, 3);
    }
    put_member(&w, "offDetector", poses, n, offsetof(struct pose, off), 2, true);
    put_member(&w, "rotDetector", poses, n, offsetof(struct pose, rot), 3, true);
    put_member(&w, "angles", poses, n, offsetof(struct pose, angle), plain ? 1 : 3, false);
    st = fbp_writer_close(&w, FBP_OK);
fail:
    free(poses);
    return st;
}

const struct fbp_geometry_format fbp_geometry_tigre = {
    .name = "tigre",
    .about = "TIGRE's geometry: JSON, or read from MAT",
    .extensions = ".mat",
    .detect = detect,
    .probe = probe,
    .load = load,
    .save = save,
    .saves = FBP_KINDS_OF_LINES,
};
