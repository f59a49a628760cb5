/* NRRD, .nrrd (header and samples) and .nhdr (header, samples in other files).
 * https://teem.sourceforge.net/nrrd/format.html */
#include "array/format/nrrd/nrrd.h"
#include "array/file/axes.h"
#include "array/file/bytes.h"
#include "array/file/frames.h"
#include "array/file/inflate.h"

#include "base/base.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { FIRST_READ = 1 << 14, MAX_HEADER = 1 << 22 };

static bool detect(const char *path, const unsigned char *head, size_t n)
{
    (void)path;
    return n >= 8 && memcmp(head, "NRRD", 4) == 0;
}

static enum fbp_type element_type(const char *name)
{
    static const struct {
        const char *name;
        enum fbp_type type;
    } table[] = {
        {"signed char", FBP_I8},
        {"int8", FBP_I8},
        {"int8_t", FBP_I8},
        {"uchar", FBP_U8},
        {"unsigned char", FBP_U8},
        {"uint8", FBP_U8},
        {"uint8_t", FBP_U8},
        {"short", FBP_I16},
        {"short int", FBP_I16},
        {"signed short", FBP_I16},
        {"int16", FBP_I16},
        {"int16_t", FBP_I16},
        {"ushort", FBP_U16},
        {"uint16", FBP_U16},
        {"unsigned short", FBP_U16},
        {"uint16_t", FBP_U16},
        {"int", FBP_I32},
        {"signed int", FBP_I32},
        {"int32", FBP_I32},
        {"int32_t", FBP_I32},
        {"uint", FBP_U32},
        {"unsigned int", FBP_U32},
        {"uint32", FBP_U32},
        {"uint32_t", FBP_U32},
        {"float", FBP_F32},
        {"double", FBP_F64},
        {"signed short int", FBP_I16},
        {"unsigned short int", FBP_U16},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcasecmp(name, table[i].name) == 0)
            return table[i].type;
    return FBP_TYPE_NONE;
}

/* Are the last of four axes the times of volumes, and the first three places? */
static bool is_series(const struct nrrd_header *h)
{
    const bool has_steps = h->n_steps == 4;
    bool is = h->is_time[3] || (has_steps && isnan(h->steps[3][0]) && !h->is_place[3]);

    for (size_t i = 0; i < 3; i++)
        is = is && !h->is_time[i] && !(has_steps && isnan(h->steps[i][0]));
    return is;
}

static fbp_status check_shape(const char *path, const struct nrrd_header *h)
{
    if (h->n_sizes == 0 || h->n_sizes != h->dim)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: NRRD header: dimension: %zu with %zu sizes: the file is damaged", path,
                        h->dim, h->n_sizes);
    if (h->dim < 2 || h->dim > 4 || h->has_components)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: NRRD of %zu axes%s: two or three axes of single values are needed, or "
                        "four of a series: save one component by itself",
                        path, h->dim, h->has_components ? ", one of them of components" : "");
    if (h->dim == 4 && !is_series(h))
        return fbp_fail(
            FBP_ERR_UNSUPPORTED,
            "%s: NRRD of four axes, and the last is not told to be times (\"kinds: "
            "domain domain domain time\"): save one volume, or one component, by itself",
            path);
    if (h->n_steps && h->n_steps != h->dim)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: NRRD header: %zu space directions for %zu axes: correct the header",
                        path, h->n_steps, h->dim);
    if ((h->n_spacings && h->n_spacings != h->dim) || (h->n_mins && h->n_mins != h->dim))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: NRRD header: %zu spacings and %zu axis mins for %zu axes: correct the "
                        "header",
                        path, h->n_spacings, h->n_mins, h->dim);
    return FBP_OK;
}

static fbp_status check_samples(const char *path, const struct nrrd_header *h,
                                struct nrrd_data *data)
{
    const enum fbp_type type = element_type(h->type);

    data->gzip = strcasecmp(h->encoding, "gzip") == 0 || strcasecmp(h->encoding, "gz") == 0;
    data->line_skip = h->line_skip;
    data->byte_skip = h->byte_skip;
    if (type == FBP_TYPE_NONE)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: NRRD header: type: \"%s\" is not supported: save it as int8 to int32, "
                        "uint8 to uint32, float or double",
                        path, h->type);
    if (!data->gzip && strcasecmp(h->encoding, "raw") != 0)
        return fbp_fail(
            FBP_ERR_UNSUPPORTED,
            "%s: NRRD header: encoding: \"%s\" is not supported: save it as raw or gzip", path,
            h->encoding);
    if (!h->has_endian && fbp_type_size(type) > 1)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: NRRD header: endian is missing: add \"endian: little\" or \"endian: "
                        "big\"",
                        path);
    if (data->gzip && data->byte_skip == -1)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: NRRD header: byte skip: -1 is for encoding: raw: give the number of "
                        "bytes",
                        path);
    return FBP_OK;
}

/* Millimetres of axis i's unit; one that is not told is mm. */
static double unit_of(const double *unit_mm, size_t n, size_t i)
{
    return i < n ? unit_mm[i] : 1;
}

/* Axes but that of times. */
static size_t places(const struct nrrd_header *h)
{
    return h->dim < 3 ? h->dim : 3;
}

static fbp_status take_directions(struct fbp_source *src, const struct nrrd_header *h)
{
    double step[3][3] = {{0}}, origin[3] = {0};

    for (size_t c = 0; c < h->space_dim; c++) {
        const double mm = unit_of(h->space_unit_mm, h->n_space_units, c);
        origin[c] = mm * h->origin[c];
        for (size_t i = 0; i < places(h); i++)
            step[i][c] = mm * h->steps[i][c];
        if (isnan(mm)) /* not a length */
            return FBP_OK;
    }
    for (size_t i = 0; i < places(h); i++)
        if (isnan(step[i][0])) /* none */
            return FBP_OK;
    return fbp_axes_take(src, places(h), (const double(*)[3])step, origin);
}

static fbp_status take_spacings(struct fbp_source *src, const struct nrrd_header *h)
{
    double step[3][3] = {{0}}, origin[3] = {0};

    for (size_t i = 0; i < places(h); i++) {
        const double mm = unit_of(h->unit_mm, h->n_units, i);
        step[i][i] = mm * h->spacings[i];
        if (isnan(step[i][i]))
            return FBP_OK;
        if (step[i][i] <= 0)
            return fbp_fail(FBP_ERR_INVALID,
                            "%s: NRRD header: spacing %g is not positive: correct the header",
                            src->path, h->spacings[i]);
        if (h->n_mins && !isnan(h->mins[i]))
            origin[i] = mm * (h->mins[i] + (h->is_cell[i] ? h->spacings[i] / 2 : 0));
        else if (h->has_origin && i < h->space_dim)
            origin[i] = mm * h->origin[i];
    }
    return fbp_axes_take(src, places(h), (const double(*)[3])step, origin);
}

static fbp_status take_info(struct fbp_source *src, const struct nrrd_header *h)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < 3; i++) {
        src->info.n[i] = i < h->dim ? h->sizes[i] : 1;
        src->info.spacing_mm[i] = 1;
    }
    if (h->dim == 4)
        FBP_TRY(fbp_frames_take(src->path, &src->info, h->sizes[3]));
    src->info.type = element_type(h->type);
    src->info.big_endian = h->big_endian;
    memcpy(src->info.unit, h->unit, sizeof h->unit);
    memcpy(src->info.history, h->history, sizeof h->history);
    src->info.scale = h->scale;
    src->info.offset = h->scale != 0 ? h->offset : 0;
    FBP_TRY(fbp_array_bytes(src->path, &src->info, &bytes));
    if (h->n_steps)
        return take_directions(src, h);
    return h->n_spacings ? take_spacings(src, h) : FBP_OK;
}

/* Go over to the one file of samples. */
static fbp_status open_beside(struct fbp_source *src, const struct nrrd_header *h)
{
    char *path = fbp_path_join(src->path, h->data_file), why[512];
    uint64_t size = 0;
    int fd = -1;

    if (!path)
        return fbp_fail_nomem(strlen(h->data_file), "a path");
    fbp_status st = fbp_inputs_add(&src->inputs, path);
    if (st == FBP_OK)
        st = fbp_open_file(path, &fd, &size);
    free(path);
    if (st != FBP_OK) {
        snprintf(why, sizeof why, "%s", fbp_message());
        fbp_message_clear();
        return fbp_fail(st, "%s: its samples: %s", src->path, why);
    }
    close(src->fd);
    src->fd = fd;
    return FBP_OK;
}

/* Byte behind the first empty line of text[n]; 0: there is none. */
static size_t header_end(const char *text, size_t n)
{
    const char *p = text;

    while ((p = memchr(p, '\n', n - (size_t)(p - text)))) {
        p++;
        const size_t left = n - (size_t)(p - text);
        if (left >= 1 && p[0] == '\n')
            return (size_t)(p - text) + 1;
        if (left >= 2 && p[0] == '\r' && p[1] == '\n')
            return (size_t)(p - text) + 2;
    }
    return 0;
}

/* The header, malloc'ed; *closed: an empty line ends it, the file may go on. */
static fbp_status read_header(const struct fbp_source *src, char **out, size_t *n, bool *closed)
{
    const off_t end = lseek(src->fd, 0, SEEK_END);
    const size_t size = end < 0 ? 0 : (size_t)end;

    for (size_t want = FIRST_READ;; want *= 8) {
        const size_t has = size < want ? size : want;
        free(*out);
        *out = NULL;
        FBP_TRY(fbp_calloc((void **)out, has + 1, 1, "an NRRD header"));
        FBP_TRY(fbp_read_at(src->fd, src->path, 0, *out, has));
        *n = header_end(*out, has);
        *closed = *n > 0;
        if (*closed)
            return FBP_OK;
        *n = has;
        if (has == size)
            return FBP_OK;
        if (want >= MAX_HEADER)
            return fbp_fail(FBP_ERR_INVALID,
                            "%s: NRRD header: no empty line ends it: the file is damaged",
                            src->path);
    }
}

static fbp_status open_samples(struct fbp_source *src, const struct nrrd_header *h,
                               const struct nrrd_data *data, size_t n, bool closed)
{
    if (fbp_nrrd_is_many(h))
        return fbp_nrrd_open_many(src, data, h);
    if (h->data_file[0]) {
        FBP_TRY(open_beside(src, h));
        return fbp_nrrd_place(src, data, 0);
    }
    if (!closed)
        return fbp_fail(
            FBP_ERR_INVALID,
            "%s: NRRD header: neither an empty line before samples nor a \"data file\": "
            "the file is truncated, copy it again",
            src->path);
    return fbp_nrrd_place(src, data, n);
}

static fbp_status open_nrrd(struct fbp_source *src)
{
    struct nrrd_header *h = NULL;
    struct nrrd_data data = {0};
    char *text = NULL;
    bool closed = false;
    fbp_status st;
    size_t n = 0;

    FBP_TRY(fbp_calloc((void **)&h, 1, sizeof *h, "an NRRD header"));
    FBP_TRY_GOTO(read_header(src, &text, &n, &closed));
    if (n < 8 || memcmp(text, "NRRD", 4) != 0)
        FBP_TRY_GOTO(
            fbp_fail(FBP_ERR_INVALID, "%s: not an NRRD file, whatever its name says", src->path));
    FBP_TRY_GOTO(fbp_nrrd_parse(src->path, text, n, h));
    FBP_TRY_GOTO(check_shape(src->path, h));
    FBP_TRY_GOTO(check_samples(src->path, h, &data));
    FBP_TRY_GOTO(take_info(src, h));
    snprintf(src->info.format, sizeof src->info.format, h->data_file[0] ? "nhdr" : "nrrd");
    st = open_samples(src, h, &data, n, closed);
fail:
    free(text);
    free(h);
    return st;
}

const struct fbp_format fbp_format_nrrd = {
    .name = "nrrd",
    .title = "NRRD",
    .extensions = ".nrrd .nhdr",
    .detect = detect,
    .open = open_nrrd,
    .files = fbp_nrrd_files,
};
