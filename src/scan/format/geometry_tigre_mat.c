/* TIGRE's geometry in a MAT file: a struct `geo`, as MATLAB has it (columns, x before y) or as
 * Python saves it (rows, in the order of its class), and `angles`.  matio is entered in children
 * only (base/contain.h). */
#include "scan/format/geometry_tigre.h"

#include "array/file/bytes.h"
#include "array/format/hdf5/hdf5_lib.h"
#include "array/format/mat/mat_lib.h"
#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { MAX_VALUES = 3 << 20 };

struct mat {
    const char *path;
    matvar_t *geo;
    bool columns; /* MATLAB's: nDetector is 2x1 */
};

static fbp_status damaged(const char *path, const char *name, const char *expected)
{
    return fbp_fail(FBP_ERR_INVALID, "%s: geo.%s: expected %s", path, name, expected);
}

/* Real numbers of any type, in two dimensions, with their data; false: something else. */
static bool is_matrix(const matvar_t *v)
{
    return v && v->rank == 2 && v->dims && v->data && !v->isComplex && v->dims[0] > 0 &&
           v->dims[1] > 0 && v->dims[0] <= MAX_VALUES && v->dims[1] <= MAX_VALUES / v->dims[0];
}

/* The data must be as long as the size says: a damaged file may lie. */
static bool has_data(const matvar_t *v)
{
    return is_matrix(v) && v->data_size > 0 &&
           v->nbytes / (size_t)v->data_size >= v->dims[0] * v->dims[1] &&
           (size_t)v->data_size == Mat_SizeOfClass((int)v->class_type);
}

/* n rows of `width` numbers, one row a view: a matrix of width rows (columns: a view each), or the
 * other way round as Python saves it.  MATLAB's order turned round if asked for. */
static fbp_status take(const struct mat *m, const char *name, const matvar_t *v, size_t width,
                       bool reverse, struct fbp_tigre_list *out)
{
    if (!has_data(v))
        return damaged(m->path, name, "a real matrix of numbers");
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): is_matrix() has looked */
    const size_t rows = v->dims[0], columns = v->dims[1];
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
    const matvar_t *v = fbp_mat_field(m->geo, name);
    const bool none =
        !v || v->class_type == MAT_C_EMPTY || (v->rank > 0 && v->dims && v->dims[0] == 0);

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
    const matvar_t *v = fbp_mat_field(m->geo, "mode");
    char text[12] = "";

    if (!v || v->class_type != MAT_C_CHAR || !v->data)
        return FBP_OK;
    const size_t size = v->data_size > 0 ? (size_t)v->data_size : 1;
    for (size_t i = 0; i < sizeof text - 1 && i < v->nbytes / size; i++)
        text[i] = ((const char *)v->data)[i * size]; /* low byte first, or the only one */
    if (strcmp(text, modes[0]) != 0 && strcmp(text, modes[1]) != 0)
        return damaged(m->path, "mode", "\"cone\" or \"parallel\"");
    *parallel = strcmp(text, modes[1]) == 0;
    return FBP_OK;
}

static fbp_status read_geo(struct mat *m, struct fbp_tigre *t)
{
    const matvar_t *pixels = fbp_mat_field(m->geo, "nDetector");

    if (!has_data(pixels) || pixels->dims[0] * pixels->dims[1] != 2)
        return damaged(m->path, "nDetector", "two numbers");
    m->columns = pixels->dims[0] == 2;
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
static fbp_status read_angles(const struct mat *m, const matvar_t *v, struct fbp_tigre_list *out)
{
    const bool one = is_matrix(v) && (v->dims[0] == 1 || v->dims[1] == 1);

    return take(m, "angles", v, one ? 1 : 3, false, out);
}

/* Has a struct of the file a member geo?  Its name, or NULL; free(). */
static char *holder_of_geo(mat_t *file)
{
    char *out = NULL;
    matvar_t *v;

    fbp_mat_rewind(file);
    while (!out && (v = fbp_mat_next(file)) != NULL) {
        const size_t n = v->class_type == MAT_C_STRUCT ? Mat_VarGetNumberOfFields(v) : 0;
        char *const *names = n ? Mat_VarGetStructFieldnames(v) : NULL;
        for (size_t i = 0; names && v->name && i < n && !out; i++)
            if (names[i] && strcmp(names[i], "geo") == 0)
                out = fbp_strdup(v->name);
        Mat_VarFree(v);
    }
    return out;
}

static fbp_status no_geo(const char *path, mat_t *file)
{
    char *holder = holder_of_geo(file);
    const fbp_status st =
        holder ? fbp_fail(FBP_ERR_INVALID,
                          "%s: geo is inside the struct %.60s: save it by itself: save(…, "
                          "'-struct', '%.60s', 'geo', 'angles')",
                          path, holder, holder)
               : fbp_fail(FBP_ERR_INVALID,
                          "%s: has no struct geo: a geometry of TIGRE is saved by save(…, 'geo', "
                          "'angles'); name an array inside a MAT file as projections instead",
                          path);
    free(holder);
    return st;
}

static fbp_status read_open(struct fbp_tigre *t, const char *path, mat_t *file)
{
    matvar_t *geo = fbp_mat_read(file, "geo"), *angles = fbp_mat_read(file, "angles");
    struct mat m = {.path = path, .geo = geo};
    fbp_status st;

    if (!geo || geo->class_type != MAT_C_STRUCT || !geo->data)
        st = no_geo(path, file);
    else if (!angles && !fbp_mat_field(geo, "angles"))
        st = fbp_fail(FBP_ERR_INVALID, "%s: has no angles beside geo: save them, too (radians)",
                      path);
    else
        st = read_geo(&m, t);
    if (st == FBP_OK)
        st = read_angles(&m, angles ? angles : fbp_mat_field(geo, "angles"), &t->angles);
    Mat_VarFree(geo);
    Mat_VarFree(angles);
    return st;
}

/* All lists of a geometry, for copying. */
enum { N_LISTS = 7 };
static void lists_of(struct fbp_tigre *t, struct fbp_tigre_list *out[N_LISTS])
{
    struct fbp_tigre_list *const all[N_LISTS] = {
        &t->dsd, &t->dso, &t->cor, &t->off_detector, &t->rot_detector, &t->off_origin, &t->angles};

    memcpy(out, all, sizeof all);
}

static fbp_status check(const char *path)
{
    bool is_new = false;

    FBP_TRY(fbp_hdf5_is_matlab(path, &is_new));
    if (is_new)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: is a MAT file of version 7.3, of which geometries are not read: save "
                        "it as -v7: save(…, 'geo', 'angles', '-v7')",
                        path);
    return FBP_OK;
}

/* Files of version 5 to 7; others are read by matio, too. */
static fbp_status open_any(const char *path, bool look, mat_t **out)
{
    unsigned char head[128];
    size_t n = 0;

    FBP_TRY(fbp_read_head(path, head, sizeof head, &n));
    if (!fbp_mat_detect(path, head, n))
        return fbp_mat_open_unchecked(path, out);
    return look ? fbp_mat_open_to_look(path, out) : fbp_mat_open(path, out);
}

/* In the child: the struct, then the numbers of its lists. */
static fbp_status read_in_child(void *arg, struct fbp_blob *reply)
{
    const char *path = arg;
    struct fbp_tigre t = {0};
    struct fbp_tigre_list *lists[N_LISTS];
    mat_t *file;

    FBP_TRY(open_any(path, false, &file));
    fbp_status st = read_open(&t, path, file);
    Mat_Close(file);
    lists_of(&t, lists);
    if (st == FBP_OK)
        st = fbp_blob_put(reply, &t, sizeof t);
    for (int i = 0; i < N_LISTS && st == FBP_OK; i++)
        if (lists[i]->v)
            st = fbp_blob_put(reply, lists[i]->v,
                              lists[i]->n * lists[i]->width * sizeof *lists[i]->v);
    fbp_tigre_clear(&t);
    return st;
}

/* What the child wrote; its pointers say no more than which lists there are. */
static fbp_status take_reply(struct fbp_tigre *t, const char *path, const struct fbp_blob *reply)
{
    struct fbp_tigre_list *lists[N_LISTS];
    bool there[N_LISTS];
    size_t at = 0;

    if (!fbp_blob_take(reply, &at, t, sizeof *t))
        return fbp_fail(FBP_ERR_INVALID, "%s: could not be read whole: copy it again", path);
    lists_of(t, lists);
    for (int i = 0; i < N_LISTS; i++) {
        there[i] = lists[i]->v != NULL;
        lists[i]->v = NULL;
    }
    for (int i = 0; i < N_LISTS; i++) {
        struct fbp_tigre_list *l = lists[i];
        const size_t bytes = l->n * l->width * sizeof *l->v;
        if (!there[i])
            continue;
        if (l->width > 3 || l->n > MAX_VALUES)
            return fbp_fail(FBP_ERR_INVALID, "%s: could not be read whole: copy it again", path);
        FBP_TRY(fbp_calloc((void **)&l->v, l->n, l->width * sizeof *l->v, "a list of a MAT file"));
        if (!fbp_blob_take(reply, &at, l->v, bytes))
            return fbp_fail(FBP_ERR_INVALID, "%s: could not be read whole: copy it again", path);
    }
    return FBP_OK;
}

/* What matio may take: a geometry is small, whatever else is in the file. */
static const struct fbp_child_limits limits = {.memory_bytes = (uint64_t)1 << 30, .seconds = 60};

fbp_status fbp_tigre_read_mat(struct fbp_tigre *t, const char *path)
{
    struct fbp_blob reply = {0};
    fbp_status st = check(path);

    if (st == FBP_OK)
        st = fbp_mat_contain(path, &limits, read_in_child, (void *)(uintptr_t)path, &reply);
    if (st == FBP_OK)
        st = take_reply(t, path, &reply);
    free(reply.bytes);
    return st;
}

static fbp_status look_in_child(void *arg, struct fbp_blob *reply)
{
    unsigned char found = 0;
    matvar_t *v;
    mat_t *file;

    FBP_TRY(open_any(arg, true, &file));
    while (!found && (v = fbp_mat_next(file)) != NULL) {
        found = v->name && strcmp(v->name, "geo") == 0 && v->class_type == MAT_C_STRUCT;
        Mat_VarFree(v);
    }
    if (!found) { /* its reader says where it should be */
        char *holder = holder_of_geo(file);
        found = holder != NULL;
        free(holder);
    }
    Mat_Close(file);
    return fbp_blob_put(reply, &found, 1);
}

fbp_status fbp_tigre_is_mat(const char *path, const unsigned char *head, size_t n, bool *is)
{
    static const char magic[] = "MATLAB ";
    struct fbp_blob reply = {0};

    if (n < 128 || memcmp(head, magic, sizeof magic - 1) != 0)
        return FBP_OK;
    fbp_status st = check(path);
    if (st == FBP_OK)
        st = fbp_mat_contain(path, &limits, look_in_child, (void *)(uintptr_t)path, &reply);
    *is = st == FBP_OK && reply.n == 1 && reply.bytes[0];
    free(reply.bytes);
    return st;
}
