/* MATLAB files of versions 5 to 7 as a format of arrays: opens an array of such a file, which
 * mat5.c parses, as a source, and writes volumes as files of version 5 (table fbp_format_mat);
 * fbp_mat_begin() and its relatives also serve the writer of EPR scans (eprit.c).
 *
 * A(k, r, c) of size [views rows columns] is read as [view][row][column], and A(r, c) as one image.
 * "NAME?sinogram": A(k, c) is column c of view k, of one detector row. "NAME?spectra": A(c, k) and
 * A(c, r, k) are views as EPR laboratories store them, already [view][row][column]; complex numbers
 * are read as their real or imaginary parts. The samples are copied into memory.
 *
 * A volume is written as vol(x, y, z), several time points as vol(x, y, z, time point); the first
 * index varies fastest. Variables have the names that programs of EPR laboratories read: mat_recFXD
 * (the volume), rec_info.rec.Size [cm]; others, such as voxel_mm, are for fbp. Source: MathWorks,
 * "MAT-File Format", level 5.
 * Used by: array/formats.c, scan/format/eprit.c. */
#include "array/format/mat.h"
#include "array/file/bytes.h"
#include "base/sandbox.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXTENSIONS ".mat"

/* ---- finding the array that a name describes */

enum { MAX_NAMES = 256, NAME = 200, DEPTH = 6, SHOWN = 8 };

/* Names and sizes of the arrays among which choose() selects, and which its error lists: real
 * numbers of a type that fbp reads, 2 to 8 dimensions, no scalars or vectors. */
struct names {
    char name[MAX_NAMES][NAME];
    char size[MAX_NAMES][64];
    size_t n;
    char other[NAME + 80]; /* why the first array of another type was omitted, such as "A is
                              complex"; "": none was omitted */
};

/* Append a variable to the list or, if it is a struct, its members, up to DEPTH levels deep; arrays
 * that fbp cannot read are omitted. */
static void walk(struct names *out, const struct fbp_mat_array *a, // NOLINT(misc-no-recursion)
                 const char *prefix, int depth)
{
    const char *why = a->complex                  ? "complex"
                      : a->class == FBP_MX_SPARSE ? "sparse"
                      : a->class == FBP_MX_INT64  ? "an array of 64-bit integers"
                      : a->class == FBP_MX_UINT64 ? "an array of 64-bit integers"
                                                  : NULL;
    char name[NAME];
    size_t used = 0;

    if (depth > DEPTH ||
        snprintf(name, sizeof name, "%s%s%s", prefix, prefix[0] ? "." : "", a->name) >= NAME)
        return;
    if (a->class != FBP_MX_STRUCT && why && !out->other[0])
        snprintf(out->other, sizeof out->other, "%s is %s", name, why);
    if (a->class != FBP_MX_STRUCT && !a->complex && fbp_mat_type(a) != FBP_TYPE_NONE &&
        a->rank >= 2 && a->rank <= 8 && out->n < MAX_NAMES &&
        (a->rank > 2 || (a->sizes[0] >= 2 && a->sizes[1] >= 2))) {
        char *size = out->size[out->n];
        snprintf(out->name[out->n++], NAME, "%s", name);
        for (size_t i = 0; i < a->rank && used < 60; i++)
            used += (size_t)snprintf(size + used, 64 - used, "%s%zu", i ? " x " : "", a->sizes[i]);
    }
    for (size_t i = 0; i < a->n_fields; i++)
        walk(out, &a->fields[i], name, depth + 1);
}

/* Find the array with the name `given` or, if that is "", the only array in the list of the file
 * (struct names), and print its full name to name[NAME]. Fails if there is no such array, or if
 * `given` is "" and the list has several. */
static fbp_status choose(const struct fbp_mat *mat, const char *file, const char *given, char *name)
{
    const char *names[MAX_NAMES], *nearest = NULL, *more;
    struct names *all = NULL;
    char known[900] = "";
    size_t n;
    const struct fbp_mat_array *v = fbp_mat_list(mat, &n);
    fbp_status st = FBP_OK;

    snprintf(name, NAME, "%s", given);
    if (*given && fbp_mat_find(mat, given))
        return FBP_OK;
    FBP_TRY(fbp_calloc((void **)&all, 1, sizeof *all, "names of arrays"));
    for (size_t i = 0; i < n; i++)
        walk(all, &v[i], "", 0);
    if (!*given && all->n == 1) {
        snprintf(name, NAME, "%s", all->name[0]);
        free(all);
        return FBP_OK;
    }
    for (size_t i = 0; i < all->n; i++)
        names[i] = all->name[i];
    for (size_t i = 0; i < all->n && i < SHOWN; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%.60s (%s)", i ? ", " : "",
                 all->name[i], all->size[i]);
    more = all->n > SHOWN ? ", …" : "";
    if (*given && all->n)
        nearest = fbp_nearest(given, names, all->n);
    if (!all->n && all->other[0])
        st = FBP_UNSUPPORTED("%s: %s, but only full real arrays of double, single or integers of 8 "
                             "to 32 bits are supported; save it as single",
                             file, all->other);
    else if (!*given)
        st = FBP_INVALID("%s: %s%s%s", file,
                         all->n
                             ? "contains several arrays; name one as FILE:VARIABLE; the arrays are "
                             : "contains no array of real numbers; check the file name",
                         known, more);
    else
        st = FBP_INVALID("%s: has no array \"%.80s\"%s%s%s; the file has %s%s", file, given,
                         nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                         nearest ? "\"?" : "", all->n ? known : "no array of real numbers", more);
    free(all);
    return st;
}

/* ---- samples of the array */

/* Order of an array's dimensions: SINOGRAM and SPECTRA if its name ends in "?sinogram" or
 * "?spectra", VOLUME if fbp wrote it as a volume, else PLAIN. */
enum order { PLAIN, SINOGRAM, SPECTRA, VOLUME };

static fbp_status take_sizes(const char *path, const struct fbp_mat_array *a, enum order order,
                             struct fbp_array_info *info)
{
    const bool sinogram = order == SINOGRAM, three = a->rank == 3;

    if ((a->complex && order != SPECTRA) || a->class == FBP_MX_SPARSE)
        return FBP_UNSUPPORTED("%s: is %s; save it as a full array of real numbers", path,
                               a->complex ? "complex" : "sparse");
    if (fbp_mat_type(a) == FBP_TYPE_NONE)
        return FBP_UNSUPPORTED("%s: is not an array of a supported type (double, single, integers "
                               "of 8 to 32 bits); save it as single",
                               path);
    if (a->rank != 2 && a->rank != 3 && !(a->rank == 4 && order == VOLUME))
        return FBP_INVALID("%s: has %zu dimensions, expected two or three ([view][row][column]; "
                           "only volumes that fbp wrote may have four); reshape it",
                           path, a->rank);
    if (sinogram && a->rank != 2)
        return FBP_INVALID("%s: has three dimensions, but a sinogram must have two; omit ?sinogram",
                           path);
    info->n[0] = a->sizes[three ? 2 : 1];
    info->n[1] = three ? a->sizes[1] : sinogram ? 1 : a->sizes[0];
    info->n[2] = three || sinogram ? a->sizes[0] : 1;
    if (order == SPECTRA || order == VOLUME) {
        info->n[0] = a->sizes[0];
        info->n[1] = three || order == VOLUME ? a->sizes[1] : 1;
        info->n[2] = three || order == SPECTRA ? a->sizes[a->rank - 1] : 1;
    }
    if (a->rank == 4) {
        info->n[2] = a->sizes[2];
        FBP_TRY(fbp_frames_take(path, info, a->sizes[3]));
    }
    info->type = fbp_mat_type(a);
    return FBP_OK;
}

/* Read the variables that fbp writes to the file of a volume: unit, history, spacing, origin,
 * scale. *is: true if fbp has written the file (its variable `axes` is "x:y:z"); else *info is
 * unchanged. */
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

/* Open a MATLAB array as a source: its samples are copied into a file in memory. */
static fbp_status open_mat(struct fbp_source *src)
{
    const char *given = src->member ? src->member : "", *query = strchr(given, '?');
    const size_t n = query ? (size_t)(query - given) : strlen(given);
    const bool spectra = query && strcmp(query, "?spectra") == 0;
    enum order order = spectra ? SPECTRA : query ? SINOGRAM : PLAIN;
    struct fbp_array_info *info = &src->info;
    const int fd = memfd_create("fbp", MFD_CLOEXEC);
    char member[NAME] = "", name[NAME], text[32];
    struct fbp_mat_array *a = NULL;
    struct fbp_mat *mat;
    uint64_t bytes;
    bool volume = false;
    fbp_status st;

    if (fd < 0)
        return fbp_fail(FBP_ERR_IO,
                        "%s: a file in memory for its samples cannot be created: %s; close other "
                        "files or programs",
                        src->path, strerror(errno));
    close(src->fd);
    src->fd = fd;
    if (query && !spectra && strcmp(query, FBP_SINOGRAM) != 0)
        return FBP_INVALID("%s: after the '?', expected sinogram or spectra", src->path);
    if (n >= sizeof member)
        return FBP_INVALID("%.200s: the name of the array is too long; rename the array",
                           src->path);
    memcpy(member, given, n);
    FBP_TRY(fbp_mat_open(src->file, &mat));
    FBP_TRY_GOTO(choose(mat, src->file, member, name));
    info->row_order = FBP_ROWS_TOP_DOWN;
    if (order == PLAIN)
        FBP_TRY_GOTO(read_place(mat, info, &volume));
    order = volume ? VOLUME : order;
    const struct fbp_mat_array *listed = fbp_mat_find(mat, name);
    FBP_TRY_GOTO(take_sizes(src->path, listed, order, info));
    FBP_TRY_GOTO(fbp_array_bytes(src->path, info, &bytes));

    /* The array and its copy are in memory together: compare both with the limit of --memory. */
    const uint64_t both = bytes + (listed->complex ? 2 : 1) * bytes;
    const uint64_t limit = fbp_process_limit(), held = limit ? fbp_resident_bytes() : 0;
    fbp_sandbox_note(both - bytes);
    if (limit && both > (limit > held ? limit - held : 0))
        FBP_TRY_GOTO(
            fbp_fail(FBP_ERR_NOMEM,
                     "%s: reading the file needs %s, more than --memory allows; raise --memory",
                     src->path, fbp_bytes_text(text, sizeof text, both)));
    FBP_TRY_GOTO(fbp_mat_read(mat, name, &a));
    const void *values = src->imaginary && a->complex ? a->imaginary : a->real;
    FBP_TRY_GOTO(order == SPECTRA || order == VOLUME
                     ? fbp_write_at(src->fd, src->path, 0, values, bytes)
                     : fbp_column_major_write(src->fd, src->path, values, fbp_type_size(info->type),
                                              info->n));
    src->complex = a->complex;
    if (a->complex && !src->imaginary)
        snprintf(info->taken, sizeof info->taken,
                 "%.240s: the samples are complex; only their real parts are used", src->path);
    src->held_bytes = bytes;
    info->big_endian = fbp_is_foreign(false);
    for (int i = 0; i < 3 && !info->has_spacing; i++)
        info->spacing_mm[i] = 1;
fail:
    fbp_mat_free(a);
    fbp_mat_close(mat);
    return st;
}

/* ---- writer of MATLAB files: a file is built in memory, up to its samples */

/* First bytes of the MATLAB files that fbp writes. An output does not replace a MATLAB file that
 * begins with other bytes (fbp_mat_spare_others()). */
static const char TITLE[] = "MATLAB 5.0 MAT-file, written by fbp";

enum { HEADER = 128, FIELD = 32, ROOM = 4096 /* bytes besides the `doubles` of a caller */ };

static void put(struct fbp_mat_maker *m, const void *data, size_t n)
{
    memcpy(m->bytes + m->n, data, n);
    m->n += n;
}

static void put_tag(struct fbp_mat_maker *m, uint32_t type, uint32_t n)
{
    put(m, &type, sizeof type);
    put(m, &n, sizeof n);
}

/* Append a data element, and pad it with zeros to a multiple of 8 bytes. */
static void put_element(struct fbp_mat_maker *m, uint32_t type, const void *data, size_t n)
{
    put_tag(m, type, (uint32_t)n);
    put(m, data, n);
    m->n = (m->n + 7) / 8 * 8;
}

/* Write the beginning of an array, up to its values; *start: argument of end_array(). */
static void begin_array(struct fbp_mat_maker *m, uint32_t class, const char *name,
                        const size_t *sizes, size_t rank, size_t *start)
{
    const uint32_t flags[2] = {class, 0};
    int32_t dims[4] = {0};

    for (size_t i = 0; i < rank; i++)
        dims[i] = (int32_t)sizes[i];
    put_tag(m, FBP_MI_MATRIX, 0);
    *start = m->n;
    put_element(m, FBP_MI_UINT32, flags, sizeof flags);
    put_element(m, FBP_MI_INT32, dims, rank * sizeof *dims);
    put_element(m, FBP_MI_INT8, name, strlen(name));
}

static void end_array(struct fbp_mat_maker *m, size_t start, uint64_t more)
{
    const uint32_t n = (uint32_t)(m->n - start + more);

    memcpy(m->bytes + start - sizeof n, &n, sizeof n);
}

fbp_status fbp_mat_begin(struct fbp_mat_maker *m, size_t doubles)
{
    void *bytes = NULL;

    FBP_TRY(fbp_calloc(&bytes, ROOM + doubles * sizeof(double), 1, "a MAT header"));
    *m = (struct fbp_mat_maker){.bytes = bytes, .n = HEADER};
    memset(m->bytes, ' ', 116); /* the other bytes of the header are 0, except the four below */
    memcpy(m->bytes, TITLE, sizeof TITLE - 1);
    memcpy(m->bytes + 124, "\0\1IM", 4);
    return FBP_OK;
}

void fbp_mat_put_doubles(struct fbp_mat_maker *m, const char *name, const double *v, size_t rows,
                         size_t columns)
{
    size_t start;

    begin_array(m, FBP_MX_DOUBLE, name, (size_t[2]){rows, columns}, 2, &start);
    put_element(m, FBP_MI_DOUBLE, v, rows * columns * sizeof *v);
    end_array(m, start, 0);
}

void fbp_mat_put_text(struct fbp_mat_maker *m, const char *name, const char *text)
{
    const size_t n = strlen(text);
    uint16_t letters[sizeof((struct fbp_array_info *)0)->history];
    size_t start;

    for (size_t i = 0; i < n; i++)
        letters[i] = (unsigned char)text[i];
    begin_array(m, FBP_MX_CHAR, name, (size_t[2]){n > 0, n}, 2, &start);
    put_element(m, FBP_MI_UINT16, letters, n * sizeof *letters);
    end_array(m, start, 0);
}

/* Write the beginning of a struct of one element with n members, n <= 2. The members follow as
 * arrays without names; end_array() ends the struct. */
static void begin_struct(struct fbp_mat_maker *m, const char *name, const char *const *fields,
                         size_t n, size_t *start)
{
    const uint32_t small = 4u << 16 | FBP_MI_INT32, length = FIELD;
    char names[2 * FIELD] = "";

    begin_array(m, FBP_MX_STRUCT, name, (size_t[2]){1, 1}, 2, start);
    put(m, &small, sizeof small);
    put(m, &length, sizeof length);
    for (size_t i = 0; i < n; i++)
        snprintf(names + i * FIELD, FIELD, "%s", fields[i]);
    put_element(m, FBP_MI_INT8, names, n * FIELD);
}

void fbp_mat_end(struct fbp_mat_maker *m, const char *name, enum fbp_type type, const size_t *sizes,
                 size_t rank, uint64_t bytes, struct fbp_layout *out)
{
    static const struct {
        uint32_t class, type;
    } as[] = {[FBP_U8] = {FBP_MX_UINT8, FBP_MI_UINT8},
              [FBP_U16] = {FBP_MX_UINT16, FBP_MI_UINT16},
              [FBP_I16] = {FBP_MX_INT16, FBP_MI_INT16},
              [FBP_F32] = {FBP_MX_SINGLE, FBP_MI_SINGLE},
              [FBP_F64] = {FBP_MX_DOUBLE, FBP_MI_DOUBLE}};
    size_t start;

    begin_array(m, as[type].class, name, sizes, rank, &start);
    put_tag(m, as[type].type, (uint32_t)bytes);
    end_array(m, start, (bytes + 7) / 8 * 8);
    out->header = (char *)m->bytes;
    out->header_bytes = m->n;
    out->tail_bytes = (8 - bytes % 8) % 8;
}

fbp_status fbp_mat_spare_others(const char *path, const char *file)
{
    char head[sizeof TITLE - 1];
    size_t n = 0;

    FBP_TRY(fbp_read_head(file, head, sizeof head, &n));
    if (n < sizeof head || memcmp(head, "MATLAB", 6) != 0 || memcmp(head, TITLE, n) == 0)
        return FBP_OK;
    return FBP_INVALID("%s: this output would replace the whole file, which another program has "
                       "written; choose another file, or remove that one first",
                       path);
}

fbp_status fbp_mat_check_size(const char *path, const struct fbp_array_info *info,
                              const char *instead, uint64_t *bytes)
{
    FBP_TRY(fbp_array_bytes(path, info, bytes));
    if (*bytes < (uint64_t)1 << 31)
        return FBP_OK;
    return FBP_INVALID("%s: the array is too large, because MAT files of version 5 are limited to "
                       "arrays of less than 2 GiB; write %s",
                       path, instead);
}

/* ---- writing volumes */

static fbp_status layout(const char *path, const struct fbp_array_info *info,
                         uint64_t compressed_bytes, struct fbp_layout *out)
{
    enum { LONGEST = 63 };
    static const char *const ours[] = {
        FBP_MAT_HISTORY, "file_type",   FBP_MAT_UNIT,   "raw_info",    "rec_info",
        FBP_MAT_AXES,    FBP_MAT_VOXEL, FBP_MAT_ORIGIN, FBP_MAT_SCALE, FBP_MAT_OFFSET};
    static const char *const file[] = {"FileName"}, *const rec[] = {"rec"};
    static const char *const edges[] = {"Size", "size"}; /* other programs read one of the two */
    const size_t n = fbp_member_output(path, EXTENSIONS);
    const char *name = path[n] && path[n + 1] ? path + n + 1 : FBP_MAT_VOLUME;
    const size_t sizes[4] = {info->n[0], info->n[1], fbp_frame_slices(info),
                             fbp_array_frames(info)};
    struct fbp_mat_maker m;
    uint64_t bytes = 0;
    size_t start, inner;
    double cm[3];
    bool given = false, cube = true;

    /* Check that MATLAB accepts the name of the array, and that no other variable of the file has
     * it. */
    bool good = isalpha((unsigned char)name[0]) && strlen(name) <= LONGEST;
    for (const char *c = name; good && *c; c++)
        good = isalnum((unsigned char)*c) || *c == '_';
    for (size_t i = 0; good && i < sizeof ours / sizeof *ours; i++)
        good = strcmp(name, ours[i]) != 0;
    if (!good)
        return FBP_INVALID(
            "%s: \"%.80s\" is not a valid name for the volume; use up to %d letters, digits and "
            "'_', with a letter first, such as %s, but no reserved name of the format",
            path, name, LONGEST, FBP_MAT_VOLUME);
    (void)compressed_bytes;
    FBP_TRY(fbp_mat_check_size(path, info, ".h5, which MATLAB's h5read opens", &bytes));
    FBP_TRY(fbp_sink_spacing(path, info, &given));
    FBP_TRY(fbp_print_path(&out->data_path, "%.*s", (int)n, path));
    FBP_TRY(fbp_mat_spare_others(path, out->data_path));
    FBP_TRY(fbp_mat_begin(&m, 0));
    fbp_mat_put_text(&m, "file_type", "Image_v1.1");
    fbp_mat_put_text(&m, FBP_MAT_AXES, FBP_MAT_XYZ);
    fbp_mat_put_text(&m, FBP_MAT_UNIT, info->unit);
    fbp_mat_put_text(&m, FBP_MAT_HISTORY, info->history);
    begin_struct(&m, "raw_info", file, 1, &start);
    fbp_mat_put_text(&m, "", "");
    end_array(&m, start, 0);
    if (given) {
        fbp_mat_put_doubles(&m, FBP_MAT_VOXEL, info->spacing_mm, 1, 3);
        fbp_mat_put_doubles(&m, FBP_MAT_ORIGIN, info->origin_mm, 1, 3);
        for (int i = 0; i < 3; i++) { /* edges of the volume [cm]; a cube has one number */
            cm[i] = (double)sizes[i] * info->spacing_mm[i] / 10;
            cube = cube && cm[i] >= cm[0] && cm[i] <= cm[0];
        }
        begin_struct(&m, "rec_info", rec, 1, &start);
        begin_struct(&m, "", edges, 2, &inner);
        fbp_mat_put_doubles(&m, "", cm, 1, cube ? 1 : 3);
        fbp_mat_put_doubles(&m, "", cm, 1, cube ? 1 : 3);
        end_array(&m, inner, 0);
        end_array(&m, start, 0);
    }
    if (info->scale != 0) {
        fbp_mat_put_doubles(&m, FBP_MAT_SCALE, &info->scale, 1, 1);
        fbp_mat_put_doubles(&m, FBP_MAT_OFFSET, &info->offset, 1, 1);
    }
    fbp_mat_end(&m, name, info->type, sizes, sizes[3] > 1 ? 4 : 3, bytes, out);
    return FBP_OK;
}

static const struct fbp_sink_format files[] = {
    {.extensions = EXTENSIONS, .layout = layout, .frames = true}, {0}};

const struct fbp_format fbp_format_mat = {
    .name = "mat",
    .title = "MAT",
    .extensions = EXTENSIONS,
    .detect = fbp_mat_detect,
    .open = open_mat,
    .not_growing = "--follow cannot read MAT files; reconstruct when the file is complete",
    .has_members = true,
    .files = files,
};
