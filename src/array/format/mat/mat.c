/* MATLAB files of version 5 to 7, by matio: an array is taken out, transposed, and held in memory.
 *
 * A(k, r, c) of size [views rows columns] is [view][row][column]; A(r, c) is one image, or with
 * "?sinogram" behind its name A(k, c) the views of one row.  With "?spectra", A(c, k) and A(c, r,
 * k) are such views as EPR laboratories have them, already [view][row][column]; of complex numbers,
 * the real parts. */
#include "array/file/bytes.h"
#include "array/file/column_major.h"
#include "array/format/mat/mat_lib.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char SINOGRAM[] = "?sinogram", SPECTRA[] = "?spectra";

struct wanted {
    const struct fbp_source *src;
    int fd; /* takes the samples */
};

/* What stands behind the array's name. */
enum layout { PLAIN, IS_SINOGRAM, IS_SPECTRA };

static fbp_status check_array(const char *path, const matvar_t *v, enum layout layout)
{
    if ((v->isComplex && layout != IS_SPECTRA) || v->class_type == MAT_C_SPARSE)
        return fbp_fail(FBP_ERR_UNSUPPORTED, "%s: is %s: save it as a full array of real numbers",
                        path, v->isComplex ? "complex" : "sparse");
    if (fbp_mat_type_of_parts(v) == FBP_TYPE_NONE)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: is no array of numbers that is read (double, single, integers of 8 to "
                        "32 bits): save it as single",
                        path);
    if (v->rank != 2 && v->rank != 3)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: has %d dimensions: two or three [view][row][column] are needed: "
                        "reshape it",
                        path, v->rank);
    return FBP_OK;
}

/* Sizes from MATLAB's, checked against the values that came. */
static fbp_status take(const char *path, const matvar_t *v, enum layout layout,
                       struct fbp_array_info *info)
{
    const bool sinogram = layout == IS_SINOGRAM;
    uint64_t bytes = 0;

    FBP_TRY(check_array(path, v, layout));
    if (sinogram && v->rank != 2)
        return fbp_fail(FBP_ERR_INVALID, "%s: has three dimensions, a sinogram has two", path);
    const bool three = v->rank == 3;
    info->n[0] = v->dims[three ? 2 : 1];
    info->n[1] = three ? v->dims[1] : sinogram ? 1 : v->dims[0];
    info->n[2] = three || sinogram ? v->dims[0] : 1;
    if (layout == IS_SPECTRA) {
        info->n[0] = v->dims[0];
        info->n[1] = three ? v->dims[1] : 1;
        info->n[2] = v->dims[v->rank - 1];
    }
    info->type = fbp_mat_type_of_parts(v);
    FBP_TRY(fbp_array_bytes(path, info, &bytes));
    if (!fbp_mat_real(v) || v->nbytes < bytes || v->data_size != (int)fbp_type_size(info->type))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: its values are not all there: the file is truncated, copy it again",
                        path);
    return FBP_OK;
}

static fbp_status take_out(const struct wanted *w, mat_t *mat, const char *member,
                           enum layout layout, struct fbp_blob *reply)
{
    const char *path = w->src->path;
    struct fbp_array_info info = {0};
    matvar_t *top = NULL;
    const matvar_t *v = fbp_mat_find(mat, member, &top);

    fbp_status st = v ? take(path, v, layout, &info) : fbp_mat_missing(mat, w->src->file, member);
    if (v && st == FBP_OK && v->isComplex)
        snprintf(info.taken, sizeof info.taken,
                 "%.240s: the real parts of complex samples are taken", path);
    if (v && st == FBP_OK && layout == IS_SPECTRA)
        st = fbp_write_at(w->fd, path, 0, fbp_mat_real(v),
                          info.n[0] * info.n[1] * info.n[2] * fbp_type_size(info.type));
    else if (v && st == FBP_OK)
        st = fbp_column_major_write(w->fd, path, v->data, fbp_type_size(info.type), info.n);
    Mat_VarFree(top);
    return st == FBP_OK ? fbp_blob_put(reply, &info, sizeof info) : st;
}

/* In a child. */
static fbp_status read_array(void *arg, struct fbp_blob *reply)
{
    const struct wanted *w = arg;
    const char *given = w->src->member, *query = given ? strchr(given, '?') : NULL;
    char member[256] = "";
    mat_t *mat;

    const enum layout layout = !query                        ? PLAIN
                               : strcmp(query, SPECTRA) == 0 ? IS_SPECTRA
                                                             : IS_SINOGRAM;

    if (query && strcmp(query, SINOGRAM) != 0 && strcmp(query, SPECTRA) != 0)
        return fbp_fail(FBP_ERR_INVALID, "%s: behind the '?' expected sinogram or spectra",
                        w->src->path);
    if (given && (query ? (size_t)(query - given) : strlen(given)) >= sizeof member)
        return fbp_fail(FBP_ERR_INVALID, "%.200s: the name of the array is too long", w->src->path);
    if (given)
        snprintf(member, sizeof member, "%.*s", (int)(query ? query - given : 255), given);
    FBP_TRY(fbp_mat_open(w->src->file, &mat));
    fbp_status st = given ? FBP_OK : fbp_mat_only(mat, w->src->file, member, sizeof member);
    if (st == FBP_OK)
        st = take_out(w, mat, member, layout, reply);
    Mat_Close(mat);
    return st;
}

static fbp_status open_mat(struct fbp_source *src)
{
    struct fbp_child_limits limits = fbp_mat_limits(src->file);
    struct wanted w = {src, memfd_create("fbp", MFD_CLOEXEC)};
    struct fbp_blob reply = {0};
    struct fbp_array_info info;
    size_t at = 0;

    if (w.fd < 0)
        return fbp_fail(FBP_ERR_IO, "%s: no memory to hold it", src->path);
    limits.leaves_copy = true;
    close(src->fd);
    src->fd = w.fd;
    if (src->growing)
        return fbp_fail(FBP_ERR_UNSUPPORTED, "%s: a MAT file cannot be followed while it grows",
                        src->path);
    fbp_status st = fbp_mat_contain(src->path, &limits, read_array, &w, &reply);
    if (st == FBP_OK && !fbp_blob_take(&reply, &at, &info, sizeof info))
        st = fbp_fail(FBP_ERR_IO, "%s: no description came back", src->path);
    free(reply.bytes);
    FBP_TRY(st);
    memcpy(src->info.n, info.n, sizeof info.n);
    memcpy(src->info.taken, info.taken, sizeof info.taken);
    src->info.type = info.type;
    FBP_TRY(fbp_array_bytes(src->path, &src->info, &src->held_bytes));
    src->info.big_endian = fbp_is_foreign(false);
    src->info.row_order = FBP_ROWS_TOP_DOWN;
    for (int i = 0; i < 3; i++)
        src->info.spacing_mm[i] = 1;
    return FBP_OK;
}

const struct fbp_format fbp_format_mat = {
    .name = "mat",
    .title = "MAT",
    .extensions = ".mat",
    .detect = fbp_mat_detect,
    .open = open_mat,
    .has_members = true,
};
