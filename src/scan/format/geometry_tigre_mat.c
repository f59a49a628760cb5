/* TIGRE's geometry in a MAT file: a struct `geo`, as MATLAB has it (columns, x before y) or as
 * Python saves it (rows, in the order of its class), and `angles`. */
#include "scan/format/geometry_tigre.h"

#include "array/format/mat/mat5.h"
#include "base/base.h"

#include <math.h>
#include <string.h>

enum { MAX_VALUES = 3 << 20 };

struct mat {
    const char *path;
    const struct fbp_mat_array *geo;
    bool columns; /* MATLAB's: nDetector is 2x1 */
};

static fbp_status damaged(const char *path, const char *name, const char *expected)
{
    return fbp_fail(FBP_ERR_INVALID, "%s: geo.%s: expected %s", path, name, expected);
}

/* A matrix of real numbers; false: something else. */
static bool is_matrix(const struct fbp_mat_array *v)
{
    return v && v->class >= FBP_MX_DOUBLE && v->class <= FBP_MX_UINT64 && v->rank == 2 && v->real &&
           !v->complex && v->count <= MAX_VALUES;
}

/* n rows of `width` numbers, one row a view: a matrix of width rows (columns: a view each), or the
 * other way round as Python saves it.  MATLAB's order turned round if asked for. */
static fbp_status take(const struct mat *m, const char *name, const struct fbp_mat_array *v,
                       size_t width, bool reverse, struct fbp_tigre_list *out)
{
    if (!is_matrix(v))
        return damaged(m->path, name, "a real matrix of numbers");
    const size_t rows = v->sizes[0], columns = v->sizes[1];
    const bool by_column = width == 1 || (m->columns ? rows == width : columns != width);
    const size_t n = width == 1 ? rows * columns : by_column ? columns : rows;

    if (width > 1 && (by_column ? rows : columns) != width)
        return damaged(m->path, name,
                       width == 2 ? "two numbers, or two a view"
                                  : "three numbers, or three a view");
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

static fbp_status read_list(const struct mat *m, const char *name, size_t width, bool reverse,
                            struct fbp_tigre_list *out)
{
    const struct fbp_mat_array *v = fbp_mat_field(m->geo, name);
    const bool none = !v || v->class == 0 || (v->rank > 0 && v->sizes[0] == 0);

    return none ? FBP_OK : take(m, name, v, width, reverse, out);
}

static fbp_status read_fixed(const struct mat *m, const char *name, size_t width, double *out)
{
    struct fbp_tigre_list list = {0};
    fbp_status st = read_list(m, name, width, true, &list);

    if (st == FBP_OK && list.v && list.n != 1)
        st = damaged(m->path, name, "as many numbers as there are axes");
    for (size_t i = 0; st == FBP_OK && list.v && i < width; i++)
        out[i] = list.v[i];
    free(list.v);
    return st;
}

static fbp_status read_mode(const struct mat *m, bool *parallel)
{
    static const char *const modes[] = {"cone", "parallel"};
    const struct fbp_mat_array *v = fbp_mat_field(m->geo, "mode");
    char text[12] = "";

    if (!v || v->class != FBP_MX_CHAR || !v->real)
        return FBP_OK;
    fbp_mat_text_of(v, text, sizeof text);
    if (strcmp(text, modes[0]) != 0 && strcmp(text, modes[1]) != 0)
        return damaged(m->path, "mode", "\"cone\" or \"parallel\"");
    *parallel = strcmp(text, modes[1]) == 0;
    return FBP_OK;
}

static fbp_status read_geo(struct mat *m, struct fbp_tigre *t)
{
    const struct fbp_mat_array *pixels = fbp_mat_field(m->geo, "nDetector");

    if (!is_matrix(pixels) || pixels->sizes[0] * pixels->sizes[1] != 2)
        return damaged(m->path, "nDetector", "two numbers");
    m->columns = pixels->sizes[0] == 2;
    FBP_TRY(read_mode(m, &t->parallel));
    FBP_TRY(read_fixed(m, "nDetector", 2, t->n_detector));
    FBP_TRY(read_fixed(m, "dDetector", 2, t->d_detector));
    FBP_TRY(read_fixed(m, "sDetector", 2, t->s_detector));
    FBP_TRY(read_fixed(m, "nVoxel", 3, t->n_voxel));
    FBP_TRY(read_fixed(m, "dVoxel", 3, t->d_voxel));
    FBP_TRY(read_fixed(m, "sVoxel", 3, t->s_voxel));
    FBP_TRY(read_list(m, "DSD", 1, false, &t->dsd));
    FBP_TRY(read_list(m, "DSO", 1, false, &t->dso));
    FBP_TRY(read_list(m, "COR", 1, false, &t->cor));
    FBP_TRY(read_list(m, "offDetector", 2, true, &t->off_detector));
    FBP_TRY(read_list(m, "offOrigin", 3, true, &t->off_origin));
    return read_list(m, "rotDetector", 3, false, &t->rot_detector);
}

/* 1 x n or n x 1; three a view: 3 x n as MATLAB has them, n x 3 as Python does. */
static fbp_status read_angles(const struct mat *m, const struct fbp_mat_array *v,
                              struct fbp_tigre_list *out)
{
    const bool one = is_matrix(v) && (v->sizes[0] == 1 || v->sizes[1] == 1);

    return take(m, "angles", v, one ? 1 : 3, false, out);
}

/* The first struct with a member geo; NULL: there is none. */
static const struct fbp_mat_array *holder_of_geo(const struct fbp_mat *file)
{
    size_t n;
    const struct fbp_mat_array *v = fbp_mat_list(file, &n);

    for (size_t i = 0; i < n; i++)
        if (fbp_mat_field(&v[i], "geo"))
            return &v[i];
    return NULL;
}

static fbp_status no_geo(const char *path, const struct fbp_mat *file)
{
    const struct fbp_mat_array *holder = holder_of_geo(file);

    if (holder)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: geo is inside the struct %.60s: save it by itself: save(…, "
                        "'-struct', '%.60s', 'geo', 'angles')",
                        path, holder->name, holder->name);
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: has no struct geo: a geometry of TIGRE is saved by save(…, 'geo', "
                    "'angles'); name an array inside a MAT file as projections instead",
                    path);
}

static bool is_struct(const struct fbp_mat_array *v)
{
    return v && v->class == FBP_MX_STRUCT;
}

static fbp_status read_open(struct fbp_tigre *t, const char *path, struct fbp_mat *file)
{
    struct fbp_mat_array *geo = NULL, *angles = NULL;
    struct mat m = {.path = path};
    fbp_status st;

    FBP_TRY_GOTO(fbp_mat_read(file, "geo", &geo));
    FBP_TRY_GOTO(fbp_mat_read(file, "angles", &angles));
    m.geo = geo;
    if (!is_struct(geo))
        FBP_TRY_GOTO(no_geo(path, file));
    if (!angles && !fbp_mat_field(geo, "angles"))
        FBP_TRY_GOTO(fbp_fail(FBP_ERR_INVALID,
                              "%s: has no angles beside geo: save them, too (radians)", path));
    FBP_TRY_GOTO(read_geo(&m, t));
    st = read_angles(&m, angles ? angles : fbp_mat_field(geo, "angles"), &t->angles);
fail:
    fbp_mat_free(geo);
    fbp_mat_free(angles);
    return st;
}

static fbp_status check(const char *path)
{
    bool is_new = false;

    FBP_TRY(fbp_mat_is_hdf5(path, &is_new));
    if (is_new)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: is a MAT file of version 7.3, of which geometries are not read: save "
                        "it as -v7: save(…, 'geo', 'angles', '-v7')",
                        path);
    return FBP_OK;
}

fbp_status fbp_tigre_read_mat(struct fbp_tigre *t, const char *path)
{
    struct fbp_mat *file;

    FBP_TRY(check(path));
    FBP_TRY(fbp_mat_open(path, &file));
    const fbp_status st = read_open(t, path, file);
    fbp_mat_close(file);
    return st;
}

fbp_status fbp_tigre_is_mat(const char *path, const unsigned char *head, size_t n, bool *is)
{
    static const char magic[] = "MATLAB ";
    struct fbp_mat *file;

    if (n < 128 || memcmp(head, magic, sizeof magic - 1) != 0)
        return FBP_OK;
    FBP_TRY(check(path));
    FBP_TRY(fbp_mat_open(path, &file));
    /* fbp_tigre_read_mat() refuses a geo inside another struct with a remedy. */
    *is = is_struct(fbp_mat_find(file, "geo")) || holder_of_geo(file);
    fbp_mat_close(file);
    return FBP_OK;
}
