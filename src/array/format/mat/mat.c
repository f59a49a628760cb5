/* MATLAB files of version 5 to 7, by matio: an array is taken out, transposed, and held in memory.
 *
 * A(k, r, c) of size [views rows columns] is [view][row][column]; A(r, c) is one image, or with
 * "?sinogram" behind its name A(k, c) the views of one row.  With "?spectra", A(c, k) and A(c, r,
 * k) are such views as EPR laboratories have them, already [view][row][column]; of complex numbers,
 * the real parts.  A volume vol(x, y, z) that this program has written is one (mat_write.c). */
#include "array/file/bytes.h"
#include "array/file/column_major.h"
#include "array/file/frames.h"
#include "array/format/mat/mat_lib.h"

#include "base/mem.h"
#include "base/text.h"

#include <math.h>
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
enum layout { PLAIN, IS_SINOGRAM, IS_SPECTRA, IS_VOLUME };

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
    if (v->rank != 2 && v->rank != 3 && !(v->rank == 4 && layout == IS_VOLUME))
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
    if (layout == IS_SPECTRA || layout == IS_VOLUME) {
        info->n[0] = v->dims[0];
        info->n[1] = three || layout == IS_VOLUME ? v->dims[1] : 1;
        info->n[2] = three || layout == IS_SPECTRA ? v->dims[v->rank - 1] : 1;
    }
    if (v->rank == 4) {
        info->n[2] = v->dims[2];
        FBP_TRY(fbp_frames_take(path, info, v->dims[3]));
    }
    info->type = fbp_mat_type_of_parts(v);
    FBP_TRY(fbp_array_bytes(path, info, &bytes));
    if (!fbp_mat_real(v) || v->nbytes < bytes || v->data_size != (int)fbp_type_size(info->type))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: its values are not all there: the file is truncated, copy it again",
                        path);
    return FBP_OK;
}

/* What stands beside a volume; false: it is none of ours. */
static bool read_place(mat_t *mat, struct fbp_array_info *info)
{
    char axes[16];

    fbp_mat_text(mat, FBP_MAT_AXES, axes, sizeof axes);
    if (strcmp(axes, FBP_MAT_XYZ) != 0)
        return false;
    fbp_mat_text(mat, FBP_MAT_UNIT, info->unit, sizeof info->unit);
    fbp_mat_text(mat, FBP_MAT_HISTORY, info->history, sizeof info->history);
    info->row_order = FBP_ROWS_BOTTOM_UP;
    info->has_spacing = fbp_mat_doubles(mat, FBP_MAT_VOXEL, info->spacing_mm, 3) &&
                        fbp_mat_doubles(mat, FBP_MAT_ORIGIN, info->origin_mm, 3);
    for (int i = 0; i < 3; i++)
        info->has_spacing = info->has_spacing && info->spacing_mm[i] > 0 &&
                            isfinite(info->spacing_mm[i]) && isfinite(info->origin_mm[i]);
    if (!fbp_mat_doubles(mat, FBP_MAT_SCALE, &info->scale, 1) ||
        !fbp_mat_doubles(mat, FBP_MAT_OFFSET, &info->offset, 1) || !isfinite(info->scale) ||
        !isfinite(info->offset))
        info->scale = info->offset = 0;
    return true;
}

/* Of complex numbers, the parts that are wanted. */
static const void *part_of(const struct wanted *w, const matvar_t *v)
{
    if (w->src->imaginary && v->isComplex && v->data)
        return ((const mat_complex_split_t *)v->data)->Im;
    return fbp_mat_real(v);
}

static fbp_status take_out(const struct wanted *w, mat_t *mat, const char *member,
                           enum layout layout, struct fbp_blob *reply)
{
    const char *path = w->src->path;
    struct fbp_array_info info = {.row_order = FBP_ROWS_TOP_DOWN};
    if (layout == PLAIN && read_place(mat, &info))
        layout = IS_VOLUME;
    matvar_t *top = NULL;
    const matvar_t *v = fbp_mat_find(mat, member, &top);

    fbp_status st = v ? take(path, v, layout, &info) : fbp_mat_missing(mat, w->src->file, member);
    if (v && st == FBP_OK && !part_of(w, v))
        st =
            fbp_fail(FBP_ERR_INVALID, "%s: its imaginary parts are not there: copy it again", path);
    if (v && st == FBP_OK && v->isComplex && !w->src->imaginary)
        snprintf(info.taken, sizeof info.taken,
                 "%.240s: the real parts of complex samples are taken", path);
    if (v && st == FBP_OK && (layout == IS_SPECTRA || layout == IS_VOLUME))
        st = fbp_write_at(w->fd, path, 0, part_of(w, v),
                          info.n[0] * info.n[1] * info.n[2] * fbp_type_size(info.type));
    else if (v && st == FBP_OK)
        st = fbp_column_major_write(w->fd, path, v->data, fbp_type_size(info.type), info.n);
    const bool complex = v && v->isComplex;
    Mat_VarFree(top);
    FBP_TRY(st);
    FBP_TRY(fbp_blob_put(reply, &complex, sizeof complex));
    return fbp_blob_put(reply, &info, sizeof info);
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
    fbp_status st = *member ? FBP_OK : fbp_mat_only(mat, w->src->file, member, sizeof member);
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
    if (st == FBP_OK && (!fbp_blob_take(&reply, &at, &src->complex, sizeof src->complex) ||
                         !fbp_blob_take(&reply, &at, &info, sizeof info)))
        st = fbp_fail(FBP_ERR_IO, "%s: no description came back", src->path);
    free(reply.bytes);
    FBP_TRY(st);
    memcpy(info.format, src->info.format, sizeof info.format);
    info.struct_size = src->info.struct_size;
    src->info = info;
    FBP_TRY(fbp_array_bytes(src->path, &src->info, &src->held_bytes));
    src->info.big_endian = fbp_is_foreign(false);
    for (int i = 0; i < 3 && !info.has_spacing; i++)
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
    .files = fbp_mat_files,
};
