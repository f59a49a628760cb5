/* What the lines of a MetaImage's header say. */
#include "array/format/mha/mha_header.h"

#include "array/file/bytes.h"

#include "base/base.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
static bool numbers(const char *value, double out[FBP_MHA_DIMS], size_t *n)
{
    return numbers_of(value, FBP_MHA_DIMS, out, n);
}

static bool one_number(const char *value, double *out)
{
    double x[FBP_MHA_DIMS];
    size_t n;
    const bool fine = numbers(value, x, &n) && n == 1;

    *out = fine ? x[0] : 0;
    return fine;
}

static bool sizes(const char *value, size_t out[FBP_MHA_DIMS], size_t *n)
{
    *n = 0;
    while (*value) {
        char *end = NULL;
        errno = 0;
        const unsigned long long x = strtoull(value, &end, 10);
        if (!isdigit((unsigned char)*value) || errno || *n == FBP_MHA_DIMS || x > SIZE_MAX)
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

static bool fits(const char *value, char *out, size_t n)
{
    return snprintf(out, n, "%s", value) < (int)n;
}

static bool set_dims(struct fbp_mha_header *h, const char *value)
{
    size_t n = 0, dims[FBP_MHA_DIMS];
    const bool fine = sizes(value, dims, &n) && n == 1;

    h->n_dims = fine ? dims[0] : 0;
    return fine;
}

static bool set_sizes(struct fbp_mha_header *h, const char *value)
{
    return sizes(value, h->sizes, &h->n_sizes);
}

static bool set_spacing(struct fbp_mha_header *h, const char *value)
{
    return numbers(value, h->spacing, &h->n_spacing);
}

static bool set_size(struct fbp_mha_header *h, const char *value)
{
    return numbers(value, h->size, &h->n_size);
}

static bool set_origin(struct fbp_mha_header *h, const char *value)
{
    return numbers(value, h->origin, &h->n_origin);
}

static bool set_matrix(struct fbp_mha_header *h, const char *value)
{
    return numbers_of(value, sizeof h->matrix / sizeof *h->matrix, h->matrix, &h->n_matrix);
}

static bool set_type(struct fbp_mha_header *h, const char *value)
{
    h->wide = strcmp(value, "MET_LONG_LONG") == 0 || strcmp(value, "MET_ULONG_LONG") == 0;
    return h->wide || element_type(value, &h->type);
}

static bool set_msb(struct fbp_mha_header *h, const char *value)
{
    return truth(value, &h->msb);
}

static bool set_compressed(struct fbp_mha_header *h, const char *value)
{
    return truth(value, &h->compressed);
}

static bool set_binary(struct fbp_mha_header *h, const char *value)
{
    bool binary = false;
    const bool fine = truth(value, &binary);

    h->ascii = !binary;
    return fine;
}

static bool set_header_size(struct fbp_mha_header *h, const char *value)
{
    return integer(value, &h->header_size);
}

static bool set_channels(struct fbp_mha_header *h, const char *value)
{
    return integer(value, &h->channels);
}

static bool set_compressed_size(struct fbp_mha_header *h, const char *value)
{
    return integer(value, &h->compressed_size) && h->compressed_size >= 0;
}

static bool set_slope(struct fbp_mha_header *h, const char *value)
{
    return one_number(value, &h->slope) && h->slope != 0;
}

static bool set_intercept(struct fbp_mha_header *h, const char *value)
{
    return one_number(value, &h->intercept);
}

static bool set_history(struct fbp_mha_header *h, const char *value)
{
    snprintf(h->history, sizeof h->history, "%.255s", value);
    return true;
}

static bool set_unit(struct fbp_mha_header *h, const char *value)
{
    if (!fits(value, h->unit, sizeof h->unit))
        h->unit[0] = '\0'; /* a long one is not ours */
    return true;
}

static bool set_data_file(struct fbp_mha_header *h, const char *value)
{
    return fits(value, h->data_file, sizeof h->data_file);
}

static const struct {
    const char *key;
    bool (*set)(struct fbp_mha_header *h, const char *value);
} keys[] = {
    {"NDims", set_dims},
    {"DimSize", set_sizes},
    {"ElementSpacing", set_spacing},
    {"ElementSize", set_size},
    {"Offset", set_origin},
    {"Origin", set_origin},
    {"Position", set_origin},
    {"TransformMatrix", set_matrix},
    {"Rotation", set_matrix},
    {"Orientation", set_matrix},
    {"ElementType", set_type},
    {"BinaryDataByteOrderMSB", set_msb},
    {"ElementByteOrderMSB", set_msb},
    {"CompressedData", set_compressed},
    {"BinaryData", set_binary},
    {"HeaderSize", set_header_size},
    {"ElementNumberOfChannels", set_channels},
    {"CompressedDataSize", set_compressed_size},
    {"ElementToIntensityFunctionSlope", set_slope},
    {"ElementToIntensityFunctionOffset", set_intercept},
    {"Comment", set_history},
    {"Unit", set_unit},
    {"ElementDataFile", set_data_file},
};

/* One line; unknown keys are somebody else's business. */
static bool set(struct fbp_mha_header *h, const char *key, const char *value)
{
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i].key) == 0)
            return keys[i].set(h, value);
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

static fbp_status take_lines(const char *path, char *lines, size_t n, struct fbp_mha_header *h)
{
    for (char *line = lines; line < lines + n && !h->data_file[0];) {
        char *newline = memchr(line, '\n', (size_t)(lines + n - line));
        char *next = newline ? newline + 1 : lines + n;
        char *equal;

        if (newline)
            *newline = '\0';
        h->end = (size_t)(next - lines);
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

static fbp_status check(const char *path, const struct fbp_mha_header *h)
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

fbp_status fbp_mha_parse(const char *path, char *text, size_t n, struct fbp_mha_header *h)
{
    FBP_TRY(take_lines(path, text, n, h));
    return check(path, h);
}
