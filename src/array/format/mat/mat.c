/* Arrays and volumes in MATLAB files of version 5 to 7.
 *
 * A(k, r, c) of size [views rows columns] is [view][row][column]; A(r, c) is one image, or with
 * "?sinogram" behind its name A(k, c) the views of one row.  With "?spectra", A(c, k) and A(c, r,
 * k) are views as EPR laboratories store them, already [view][row][column]; of complex numbers the
 * real parts are read.  A volume vol(x, y, z) that this program has written is read as a volume
 * (mat_write.c).  The samples are copied into memory, transposed if necessary. */
#include "array/file/bytes.h"
#include "array/file/column_major.h"
#include "array/file/frames.h"
#include "array/format/mat/mat5.h"
#include "array/format/mat/mat_put.h"

#include "base/sandbox.h"
#include "base/base.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_NAMES = 256, NAME = 200, DEPTH = 6, SHOWN = 8 };

static const char SINOGRAM[] = "?sinogram", SPECTRA[] = "?spectra";

/* ---- which array is meant */

/* Arrays of numbers of a file. */
struct names {
    char name[MAX_NAMES][NAME];
    char size[MAX_NAMES][64];
    size_t n;
    char other[NAME + 80]; /* the first array of other numbers, "A is complex"; "" */
};

/* Why numbers cannot be read; NULL: they can, or they are no numbers. */
static const char *why_not(const struct fbp_mat_array *a)
{
    if (a->complex)
        return "complex";
    switch (a->class) {
    case FBP_MX_SPARSE:
        return "sparse";
    case FBP_MX_INT64:
    case FBP_MX_UINT64:
        return "of 64-bit integers";
    default:
        return NULL;
    }
}

static void add(struct names *out, const struct fbp_mat_array *a, const char *name)
{
    char *size = out->size[out->n];
    size_t used = 0;

    if (why_not(a) && !out->other[0])
        snprintf(out->other, sizeof out->other, "%s is %s", name, why_not(a));
    if (a->complex || fbp_mat_type(a) == FBP_TYPE_NONE || a->rank < 2 || a->rank > 8 ||
        out->n == MAX_NAMES || (a->rank == 2 && (a->sizes[0] < 2 || a->sizes[1] < 2)))
        return;
    snprintf(out->name[out->n++], NAME, "%s", name);
    for (size_t i = 0; i < a->rank && used < 60; i++)
        used += (size_t)snprintf(size + used, 64 - used, "%s%zu", i ? " x " : "", a->sizes[i]);
}

static void walk(struct names *out, const struct fbp_mat_array *a, // NOLINT(misc-no-recursion)
                 const char *prefix, int depth)
{
    char name[NAME];

    if (depth > DEPTH ||
        snprintf(name, sizeof name, "%s%s%s", prefix, prefix[0] ? "." : "", a->name) >= NAME)
        return;
    if (a->class != FBP_MX_STRUCT)
        add(out, a, name);
    for (size_t i = 0; i < a->n_fields; i++)
        walk(out, &a->fields[i], name, depth + 1);
}

/* free(*all). */
static fbp_status list(const struct fbp_mat *mat, struct names **all)
{
    size_t n;
    const struct fbp_mat_array *v = fbp_mat_list(mat, &n);

    FBP_TRY(fbp_calloc((void **)all, 1, sizeof **all, "names of arrays"));
    for (size_t i = 0; i < n; i++)
        walk(*all, &v[i], "", 0);
    return FBP_OK;
}

static fbp_status missing(const struct names *all, const char *file, const char *member)
{
    const char *names[MAX_NAMES], *nearest;
    char known[900] = "";

    for (size_t i = 0; i < all->n; i++)
        names[i] = all->name[i];
    nearest = member && all->n ? fbp_nearest(member, names, all->n) : NULL;
    for (size_t i = 0; i < all->n && i < SHOWN; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%.60s (%s)", i ? ", " : "",
                 all->name[i], all->size[i]);
    if (!all->n && all->other[0])
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: %s: double, single and integers of 8 to 32 bits are read, full and "
                        "real: save it as single",
                        file, all->other);
    if (!member)
        return fbp_fail(FBP_ERR_INVALID, "%s: %s%s%s", file,
                        all->n ? "holds several arrays: name one as FILE:VARIABLE; it has "
                               : "holds no array of real numbers: is it the right file?",
                        known, all->n > SHOWN ? ", …" : "");
    return fbp_fail(FBP_ERR_INVALID, "%s: has no array \"%.80s\"%s%s%s: it has %s%s", file, member,
                    nearest ? ": did you mean \"" : "", nearest ? nearest : "",
                    nearest ? "\"?" : "", all->n ? known : "no array of real numbers",
                    all->n > SHOWN ? ", …" : "");
}

/* The array of a name, or the only one of the file, into name[NAME]. */
static fbp_status choose(const struct fbp_mat *mat, const char *file, const char *given, char *name)
{
    struct names *all = NULL;

    snprintf(name, NAME, "%s", given);
    if (*given && fbp_mat_find(mat, given))
        return FBP_OK;
    FBP_TRY(list(mat, &all));
    const fbp_status st =
        !*given && all->n == 1 ? FBP_OK : missing(all, file, *given ? given : NULL);
    if (st == FBP_OK)
        snprintf(name, NAME, "%s", all->name[0]);
    free(all);
    return st;
}

/* ---- its samples */

/* What stands behind the array's name. */
enum layout { PLAIN, IS_SINOGRAM, IS_SPECTRA, IS_VOLUME };

static fbp_status check_array(const char *path, const struct fbp_mat_array *a, enum layout layout)
{
    if ((a->complex && layout != IS_SPECTRA) || a->class == FBP_MX_SPARSE)
        return fbp_fail(FBP_ERR_UNSUPPORTED, "%s: is %s: save it as a full array of real numbers",
                        path, a->complex ? "complex" : "sparse");
    if (fbp_mat_type(a) == FBP_TYPE_NONE)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: is no array of numbers that is read (double, single, integers of 8 to "
                        "32 bits): save it as single",
                        path);
    if (a->rank != 2 && a->rank != 3 && !(a->rank == 4 && layout == IS_VOLUME))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: has %zu dimensions: two or three [view][row][column] are needed: "
                        "reshape it",
                        path, a->rank);
    return FBP_OK;
}

static fbp_status take_sizes(const char *path, const struct fbp_mat_array *a, enum layout layout,
                             struct fbp_array_info *info)
{
    const bool sinogram = layout == IS_SINOGRAM, three = a->rank == 3;

    FBP_TRY(check_array(path, a, layout));
    if (sinogram && a->rank != 2)
        return fbp_fail(FBP_ERR_INVALID, "%s: has three dimensions, a sinogram has two", path);
    info->n[0] = a->sizes[three ? 2 : 1];
    info->n[1] = three ? a->sizes[1] : sinogram ? 1 : a->sizes[0];
    info->n[2] = three || sinogram ? a->sizes[0] : 1;
    if (layout == IS_SPECTRA || layout == IS_VOLUME) {
        info->n[0] = a->sizes[0];
        info->n[1] = three || layout == IS_VOLUME ? a->sizes[1] : 1;
        info->n[2] = three || layout == IS_SPECTRA ? a->sizes[a->rank - 1] : 1;
    }
    if (a->rank == 4) {
        info->n[2] = a->sizes[2];
        FBP_TRY(fbp_frames_take(path, info, a->sizes[3]));
    }
    info->type = fbp_mat_type(a);
    return FBP_OK;
}

/* What stands beside a volume; *is: this program has written it. */
static fbp_status read_place(struct fbp_mat *mat, struct fbp_array_info *info, bool *is)
{
    bool spacing, origin = false, scale, offset = false;
    char axes[16];

    FBP_TRY(fbp_mat_text(mat, FBP_MAT_AXES, axes, sizeof axes));
    *is = strcmp(axes, FBP_MAT_XYZ) == 0;
    if (!*is)
        return FBP_OK;
    FBP_TRY(fbp_mat_text(mat, FBP_MAT_UNIT, info->unit, sizeof info->unit));
    FBP_TRY(fbp_mat_text(mat, FBP_MAT_HISTORY, info->history, sizeof info->history));
    info->row_order = FBP_ROWS_BOTTOM_UP;
    FBP_TRY(fbp_mat_doubles(mat, FBP_MAT_VOXEL, info->spacing_mm, 3, &spacing));
    if (spacing)
        FBP_TRY(fbp_mat_doubles(mat, FBP_MAT_ORIGIN, info->origin_mm, 3, &origin));
    info->has_spacing = origin;
    for (int i = 0; i < 3; i++)
        info->has_spacing = info->has_spacing && info->spacing_mm[i] > 0 &&
                            isfinite(info->spacing_mm[i]) && isfinite(info->origin_mm[i]);
    FBP_TRY(fbp_mat_doubles(mat, FBP_MAT_SCALE, &info->scale, 1, &scale));
    if (scale)
        FBP_TRY(fbp_mat_doubles(mat, FBP_MAT_OFFSET, &info->offset, 1, &offset));
    if (!offset || !isfinite(info->scale) || !isfinite(info->offset))
        info->scale = info->offset = 0;
    return FBP_OK;
}

/* The array and its copy are in memory at the same time. */
static fbp_status check_memory(const char *path, const struct fbp_mat_array *a, uint64_t bytes)
{
    const uint64_t both = bytes + (a->complex ? 2 : 1) * bytes;
    const uint64_t limit = fbp_process_limit(), held = limit ? fbp_resident_bytes() : 0;
    char text[32];

    fbp_contained_note(both - bytes);
    if (!limit || both <= (limit > held ? limit - held : 0))
        return FBP_OK;
    return fbp_fail(FBP_ERR_NOMEM, "%s: reading it needs %s, more than --memory leaves: raise it",
                    path, fbp_bytes_text(text, sizeof text, both));
}

static fbp_status copy_samples(const struct fbp_source *src, const struct fbp_array_info *info,
                               const struct fbp_mat_array *a, enum layout layout)
{
    const void *values = src->imaginary && a->complex ? a->imaginary : a->real;
    const size_t size = fbp_type_size(info->type);

    if (layout == IS_SPECTRA || layout == IS_VOLUME)
        return fbp_write_at(src->fd, src->path, 0, values,
                            info->n[0] * info->n[1] * info->n[2] * size);
    return fbp_column_major_write(src->fd, src->path, values, size, info->n);
}

static fbp_status take_out(struct fbp_source *src, struct fbp_mat *mat, const char *member,
                           enum layout layout, struct fbp_array_info *info)
{
    struct fbp_mat_array *a = NULL;
    char name[NAME];
    uint64_t bytes;
    bool volume = false;

    FBP_TRY(choose(mat, src->file, member, name));
    if (layout == PLAIN)
        FBP_TRY(read_place(mat, info, &volume));
    if (volume)
        layout = IS_VOLUME;
    const struct fbp_mat_array *listed = fbp_mat_find(mat, name);
    FBP_TRY(take_sizes(src->path, listed, layout, info));
    FBP_TRY(fbp_array_bytes(src->path, info, &bytes));
    FBP_TRY(check_memory(src->path, listed, bytes));
    FBP_TRY(fbp_mat_read(mat, name, &a));
    const fbp_status st = copy_samples(src, info, a, layout);
    src->complex = a->complex;
    if (a->complex && !src->imaginary)
        snprintf(info->taken, sizeof info->taken,
                 "%.240s: the real parts of complex samples are taken", src->path);
    fbp_mat_free(a);
    return st;
}

static fbp_status read_array(struct fbp_source *src, struct fbp_array_info *info)
{
    const char *given = src->member ? src->member : "", *query = strchr(given, '?');
    const size_t n = query ? (size_t)(query - given) : strlen(given);
    const enum layout layout = !query                        ? PLAIN
                               : strcmp(query, SPECTRA) == 0 ? IS_SPECTRA
                                                             : IS_SINOGRAM;
    char member[NAME] = "";
    struct fbp_mat *mat;

    if (query && strcmp(query, SINOGRAM) != 0 && strcmp(query, SPECTRA) != 0)
        return fbp_fail(FBP_ERR_INVALID, "%s: behind the '?' expected sinogram or spectra",
                        src->path);
    if (n >= sizeof member)
        return fbp_fail(FBP_ERR_INVALID, "%.200s: the name of the array is too long", src->path);
    memcpy(member, given, n);
    FBP_TRY(fbp_mat_open(src->file, &mat));
    const fbp_status st = take_out(src, mat, member, layout, info);
    fbp_mat_close(mat);
    return st;
}

static fbp_status open_mat(struct fbp_source *src)
{
    struct fbp_array_info info = {.row_order = FBP_ROWS_TOP_DOWN};
    const int fd = memfd_create("fbp", MFD_CLOEXEC);

    if (fd < 0)
        return fbp_fail(FBP_ERR_IO, "%s: no memory to hold it", src->path);
    close(src->fd);
    src->fd = fd;
    if (src->growing)
        return fbp_fail(FBP_ERR_UNSUPPORTED, "%s: a MAT file cannot be followed while it grows",
                        src->path);
    FBP_TRY(read_array(src, &info));
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
