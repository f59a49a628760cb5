/* MetaImage, .mha (header and samples) and .mhd (header beside a file of samples): lines
 * "Key = value", the last of them ElementDataFile.  https://itk.org/Wiki/ITK/MetaIO/Documentation
 */
#include "array/format/mha/mha.h"
#include "array/file/axes.h"
#include "array/file/bytes.h"
#include "array/file/frames.h"
#include "array/file/inflate.h"

#include "base/mem.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_HEADER = 1 << 16, MAX_DIMS = 10 };

/* The header as it stands; checked when it is complete. */
struct header {
    size_t n_dims, n_sizes, sizes[MAX_DIMS];
    size_t n_spacing, n_size, n_origin, n_matrix;
    double spacing[MAX_DIMS], size[MAX_DIMS], origin[MAX_DIMS];
    double matrix[MAX_DIMS * MAX_DIMS]; /* the direction of axis after axis */
    double slope, intercept;            /* slope 0: not given */
    enum fbp_type type;
    bool msb, compressed, ascii, wide; /* wide: integers of 64 bits */
    long long channels, header_size, compressed_size;
    char unit[16], history[256];
    char data_file[1024];
    size_t end; /* first byte behind the header */
};

static bool detect(const char *path, const unsigned char *head, size_t n)
{
    static const char *const keys[] = {"ObjectType", "NDims"};
    char text[4097];

    (void)path;
    memcpy(text, head, n);
    text[n] = '\0';
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *p = strstr(text, keys[i]);
        if (!p || (p > text && p[-1] != '\n'))
            continue;
        p += strlen(keys[i]);
        if (p[strspn(p, " \t")] == '=')
            return true;
    }
    return false;
}

/* Up to `most` numbers; false if anything else stands there. */
static bool numbers_of(const char *value, size_t most, double *out, size_t *n)
{
    *n = 0;
    while (*value) {
        char *end = NULL;
        const double x = fbp_number(value, &end);
        if (end == value || *n == most || !isfinite(x))
            return false;
        out[(*n)++] = x;
        value = end + strspn(end, " \t");
    }
    return *n > 0;
}

/* One number a dimension. */
static bool numbers(const char *value, double out[MAX_DIMS], size_t *n)
{
    return numbers_of(value, MAX_DIMS, out, n);
}

static bool one_number(const char *value, double *out)
{
    double x[MAX_DIMS];
    size_t n;
    const bool fine = numbers(value, x, &n) && n == 1;

    *out = fine ? x[0] : 0;
    return fine;
}

static bool sizes(const char *value, size_t out[MAX_DIMS], size_t *n)
{
    *n = 0;
    while (*value) {
        char *end = NULL;
        errno = 0;
        const unsigned long long x = strtoull(value, &end, 10);
        if (!isdigit((unsigned char)*value) || errno || *n == MAX_DIMS || x > SIZE_MAX)
            return false;
        out[(*n)++] = (size_t)x;
        value = end + strspn(end, " \t");
    }
    return *n > 0;
}

static bool truth(const char *value, bool *out)
{
    *out = strcasecmp(value, "true") == 0 || strcmp(value, "1") == 0;
    return *out || strcasecmp(value, "false") == 0 || strcmp(value, "0") == 0;
}

static bool integer(const char *value, long long *out)
{
    char *end = NULL;
    errno = 0;
    *out = strtoll(value, &end, 10);
    return end != value && !*end && !errno;
}

static bool element_type(const char *value, enum fbp_type *out)
{
    static const struct {
        const char *name;
        enum fbp_type type;
    } table[] = {
        {"MET_UCHAR", FBP_U8},   {"MET_CHAR", FBP_I8},  {"MET_USHORT", FBP_U16},
        {"MET_SHORT", FBP_I16},  {"MET_UINT", FBP_U32}, {"MET_INT", FBP_I32},
        {"MET_ULONG", FBP_U32},  {"MET_LONG", FBP_I32}, {"MET_FLOAT", FBP_F32},
        {"MET_DOUBLE", FBP_F64},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(value, table[i].name) == 0) {
            *out = table[i].type;
            return true;
        }
    return false;
}

static bool text(const char *value, char *out, size_t n)
{
    return snprintf(out, n, "%s", value) < (int)n;
}

/* One line; unknown keys are somebody else's business. */
static bool set(struct header *h, const char *key, const char *value)
{
    size_t one = 0, dims[MAX_DIMS];

    if (strcmp(key, "NDims") == 0) {
        const bool fine = sizes(value, dims, &one) && one == 1;
        h->n_dims = fine ? dims[0] : 0;
        return fine;
    }
    if (strcmp(key, "DimSize") == 0)
        return sizes(value, h->sizes, &h->n_sizes);
    if (strcmp(key, "ElementSpacing") == 0)
        return numbers(value, h->spacing, &h->n_spacing);
    if (strcmp(key, "ElementSize") == 0)
        return numbers(value, h->size, &h->n_size);
    if (strcmp(key, "Offset") == 0 || strcmp(key, "Origin") == 0 || strcmp(key, "Position") == 0)
        return numbers(value, h->origin, &h->n_origin);
    if (strcmp(key, "TransformMatrix") == 0 || strcmp(key, "Rotation") == 0 ||
        strcmp(key, "Orientation") == 0)
        return numbers_of(value, sizeof h->matrix / sizeof *h->matrix, h->matrix, &h->n_matrix);
    if (strcmp(key, "ElementType") == 0) {
        h->wide = strcmp(value, "MET_LONG_LONG") == 0 || strcmp(value, "MET_ULONG_LONG") == 0;
        return h->wide || element_type(value, &h->type);
    }
    if (strcmp(key, "BinaryDataByteOrderMSB") == 0 || strcmp(key, "ElementByteOrderMSB") == 0)
        return truth(value, &h->msb);
    if (strcmp(key, "CompressedData") == 0)
        return truth(value, &h->compressed);
    if (strcmp(key, "BinaryData") == 0) {
        bool binary = false;
        const bool fine = truth(value, &binary);
        h->ascii = !binary;
        return fine;
    }
    if (strcmp(key, "HeaderSize") == 0)
        return integer(value, &h->header_size);
    if (strcmp(key, "ElementNumberOfChannels") == 0)
        return integer(value, &h->channels);
    if (strcmp(key, "CompressedDataSize") == 0)
        return integer(value, &h->compressed_size) && h->compressed_size >= 0;
    if (strcmp(key, "ElementToIntensityFunctionSlope") == 0)
        return one_number(value, &h->slope) && h->slope != 0;
    if (strcmp(key, "ElementToIntensityFunctionOffset") == 0)
        return one_number(value, &h->intercept);
    if (strcmp(key, "Comment") == 0) {
        snprintf(h->history, sizeof h->history, "%.255s", value);
        return true;
    }
    if (strcmp(key, "Unit") == 0) { /* a long one is not ours */
        if (!text(value, h->unit, sizeof h->unit))
            h->unit[0] = '\0';
        return true;
    }
    if (strcmp(key, "ElementDataFile") == 0)
        return text(value, h->data_file, sizeof h->data_file);
    return true;
}

/* Cut trailing blanks, skip leading ones. */
static char *trim(char *s)
{
    size_t n = strlen(s);

    while (n > 0 && isspace((unsigned char)s[n - 1]))
        s[--n] = '\0';
    return s + strspn(s, " \t");
}

static fbp_status parse(const char *path, char *text_, size_t n, struct header *h)
{
    for (char *line = text_; line < text_ + n && !h->data_file[0];) {
        char *newline = memchr(line, '\n', (size_t)(text_ + n - line));
        char *next = newline ? newline + 1 : text_ + n;
        char *equal;

        if (newline)
            *newline = '\0';
        h->end = (size_t)(next - text_);
        equal = strchr(line, '=');
        if (equal) {
            *equal = '\0';
            const char *key = trim(line), *value = trim(equal + 1);
            if (!set(h, key, value))
                return fbp_fail(FBP_ERR_INVALID,
                                "%s: MetaImage header: \"%s = %.80s\" is not supported or damaged",
                                path, key, value);
        } else if (*trim(line)) {
            return fbp_fail(FBP_ERR_INVALID, "%s: MetaImage header: no '=' in the line \"%.40s\"",
                            path, line);
        }
        line = next;
    }
    return FBP_OK;
}

/* "LIST", or a pattern such as "slice%03d.raw 1 100 1". */
static bool names_many(const char *data_file)
{
    for (const char *p = data_file; (p = strchr(p, '%'));) {
        p += 1 + strspn(p + 1, "0123456789");
        if (*p == 'd')
            return true;
    }
    return strncmp(data_file, "LIST", 4) == 0 && strchr(" \t", data_file[4]);
}

static fbp_status check(const char *path, const struct header *h)
{
    if (h->wide)
        return fbp_fail(
            FBP_ERR_UNSUPPORTED,
            "%s: MetaImage: integers of 64 bits are not read: save it as MET_INT, or as "
            "MET_DOUBLE if they are large",
            path);
    if (!h->data_file[0] || !h->n_sizes || h->type == FBP_TYPE_NONE)
        return fbp_fail(FBP_ERR_INVALID, "%s: MetaImage header: %s is missing: the file is damaged",
                        path,
                        !h->n_sizes                ? "DimSize"
                        : h->type == FBP_TYPE_NONE ? "ElementType"
                                                   : "ElementDataFile");
    if (h->n_dims < 2 || h->n_sizes != h->n_dims)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: MetaImage header: NDims = %zu with %zu sizes: two or three dimensions "
                        "are needed, and a size of each: correct the header",
                        path, h->n_dims, h->n_sizes);
    for (size_t i = 4; i < h->n_dims; i++)
        if (h->sizes[i] != 1)
            return fbp_fail(FBP_ERR_UNSUPPORTED,
                            "%s: MetaImage: has %zu dimensions, the size of number %zu is %zu: two "
                            "to four are read, more if their size is 1: save each series of "
                            "volumes as a file of its own",
                            path, h->n_dims, i + 1, h->sizes[i]);
    if (h->ascii || (h->channels != 0 && h->channels != 1))
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: MetaImage: text samples and several channels are not supported: save "
                        "it as one binary channel",
                        path);
    if (h->header_size < -1 || (h->header_size == -1 && h->compressed))
        return fbp_fail(FBP_ERR_INVALID, "%s: MetaImage header: HeaderSize = %lld cannot be", path,
                        h->header_size);
    if (names_many(h->data_file))
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: MetaImage: samples in several files (ElementDataFile = %.80s) are not "
                        "read: save it as one file, or name the files by a pattern with \"raw\" in "
                        "the scan file, such as \"slice%%03d.raw 1 100\"",
                        path, h->data_file);
    return FBP_OK;
}

/* A grid that is turned: its origin is told along its own axes, as that of other formats is. */
static fbp_status take_turn(struct fbp_source *src, const struct header *h)
{
    const size_t nd = h->n_dims, n = nd < 3 ? nd : 3;
    double step[3][3] = {{0}}, origin[3];
    bool turned = false;

    if (h->n_matrix && h->n_matrix != nd * nd)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: MetaImage header: a TransformMatrix of %zu numbers does not fit %zu "
                        "dimensions: correct the header",
                        src->path, h->n_matrix, nd);
    memcpy(origin, src->info.origin_mm, sizeof origin);
    for (size_t i = 0; i < n && h->n_matrix; i++)
        for (size_t c = 0; c < n; c++) {
            step[i][c] = src->info.spacing_mm[i] * h->matrix[i * nd + c];
            turned |= h->matrix[i * nd + c] != (i == c);
        }
    return turned && src->info.has_spacing ? fbp_axes_take(src, n, (const double(*)[3])step, origin)
                                           : FBP_OK;
}

static fbp_status take_spacing(struct fbp_source *src, const struct header *h)
{
    const double *from = h->n_spacing ? h->spacing : h->size;
    const size_t n = h->n_spacing ? h->n_spacing : h->n_size;

    if ((n && n != h->n_dims) || (h->n_origin && h->n_origin != h->n_dims))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: MetaImage header: %zu spacings and %zu offsets do not fit %zu "
                        "dimensions: correct the header",
                        src->path, n, h->n_origin, h->n_dims);
    src->info.has_spacing = n > 0;
    for (size_t i = 0; i < 3; i++) {
        src->info.spacing_mm[i] = i < n ? from[i] : 1;
        src->info.origin_mm[i] = i < h->n_origin ? h->origin[i] : 0;
        if (!(src->info.spacing_mm[i] > 0))
            return fbp_fail(FBP_ERR_INVALID,
                            "%s: MetaImage header: the element spacing %g is not positive",
                            src->path, src->info.spacing_mm[i]);
    }
    return take_turn(src, h);
}

static bool is_same_file(int a, int b)
{
    struct stat s, t;

    return fstat(a, &s) == 0 && fstat(b, &t) == 0 && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
}

/* Go over to the file of samples, where that is another one. */
static fbp_status open_data(struct fbp_source *src, const struct header *h, uint64_t *size)
{
    const off_t end = lseek(src->fd, 0, SEEK_END);
    fbp_status st;
    char *path;
    int fd = -1;

    *size = end < 0 ? 0 : (uint64_t)end;
    src->offset = h->end;
    if (strcasecmp(h->data_file, "LOCAL") == 0)
        return FBP_OK;
    path = fbp_path_join(src->path, h->data_file);
    if (!path)
        return fbp_fail_nomem(strlen(h->data_file), "a path");
    st = fbp_inputs_add(&src->inputs, path);
    if (st == FBP_OK)
        st = fbp_open_file(path, &fd, size);
    free(path);
    if (st != FBP_OK) {
        char why[512];
        snprintf(why, sizeof why, "%s", fbp_message());
        fbp_message_clear();
        return fbp_fail(st, "%s: its samples: %s", src->path, why);
    }
    const bool same = is_same_file(src->fd, fd);
    close(src->fd);
    src->fd = fd;
    src->offset = 0;
    if (same && h->header_size == 0)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: names itself as the file of its samples: name the other file, or "
                        "LOCAL if they follow the header",
                        src->path);
    return FBP_OK;
}

/* Of a file that is still being written, it must be known where a view lies. */
static fbp_status check_growing(const struct fbp_source *src, const struct header *h)
{
    if (src->growing && h->compressed)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: its samples are compressed: a compressed file cannot be followed "
                        "while it grows: write it without compression",
                        src->path);
    if (src->growing && h->header_size == -1)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: MetaImage header: HeaderSize = -1 counts from the end: such a file "
                        "cannot be followed while it grows: give the size of its header",
                        src->path);
    return FBP_OK;
}

static fbp_status take(struct fbp_source *src, const struct header *h)
{
    uint64_t bytes = 0, size = 0;

    FBP_TRY(check(src->path, h));
    FBP_TRY(take_spacing(src, h));
    for (size_t i = 0; i < 3; i++)
        src->info.n[i] = i < h->n_sizes ? h->sizes[i] : 1;
    if (h->n_sizes > 3)
        FBP_TRY(fbp_frames_take(src->path, &src->info, h->sizes[3]));
    src->info.type = h->type;
    src->info.big_endian = h->msb;
    memcpy(src->info.unit, h->unit, sizeof h->unit);
    memcpy(src->info.history, h->history, sizeof h->history);
    if (h->slope != 0 && (h->slope < 1 || h->slope > 1 || h->intercept != 0)) {
        src->info.scale = h->slope;
        src->info.offset = h->intercept;
    }
    FBP_TRY(fbp_array_bytes(src->path, &src->info, &bytes));
    FBP_TRY(check_growing(src, h));
    FBP_TRY(open_data(src, h, &size));
    if (h->header_size > 0)
        src->offset = (uint64_t)h->header_size;
    else if (h->header_size == -1)
        src->offset = size > bytes ? size - bytes : 0;
    if (!h->compressed)
        return FBP_OK;
    FBP_TRY(fbp_inflate_check(src, (uint64_t)h->compressed_size, size, 0, bytes));
    return fbp_inflate_open(src, 0, bytes);
}

static fbp_status open_mha(struct fbp_source *src)
{
    const off_t end = lseek(src->fd, 0, SEEK_END);
    const size_t n = end < 0 ? 0 : end < MAX_HEADER ? (size_t)end : MAX_HEADER;
    struct header *h = NULL;
    char *head = NULL;
    fbp_status st;

    FBP_TRY_GOTO(fbp_calloc((void **)&h, 1, sizeof *h, "a MetaImage header"));
    FBP_TRY_GOTO(fbp_calloc((void **)&head, n + 1, 1, "a MetaImage header"));
    FBP_TRY_GOTO(fbp_read_at(src->fd, src->path, 0, head, n));
    FBP_TRY_GOTO(parse(src->path, head, n, h));
    st = take(src, h);
    snprintf(src->info.format, sizeof src->info.format, "%s",
             h->data_file[0] && strcasecmp(h->data_file, "LOCAL") != 0 ? "mhd" : "mha");
fail:
    free(head);
    free(h);
    return st;
}

const struct fbp_format fbp_format_mha = {
    .name = "mha",
    .title = "MHA",
    .extensions = ".mha .mhd",
    .detect = detect,
    .open = open_mha,
    .files = fbp_mha_files,
};
