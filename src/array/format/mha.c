/* Reader and writer of MetaImage: .mha (header and samples) and .mhd (header, samples in another
 * file); table fbp_format_mha. A header has lines "Key = value"; the last key is ElementDataFile.
 * https://itk.org/Wiki/ITK/MetaIO/Documentation
 * Used by: array/formats.c. */
#include "array/file/bytes.h"
#include "array/file/format.h"
#include "array/format/ini.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { MAX_HEADER = 1 << 16, DIMS = 10 };

struct header {
    size_t n_dims, n_sizes, sizes[DIMS];
    size_t n_spacing, n_size, n_origin, n_matrix;
    double spacing[DIMS], size[DIMS], origin[DIMS];
    double matrix[DIMS * DIMS]; /* direction vectors of the axes, one after another */
    double slope, intercept;    /* slope 0: the header has no scale */
    enum fbp_type type;
    bool msb, compressed, ascii, wide; /* wide: integers of 64 bits */
    long long channels, header_size, compressed_size;
    char unit[16], history[256];
    char data_file[1024];
    size_t end; /* first byte after the header */
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

/* ---- the lines of a header */

static bool truth(const char *value, bool *out)
{
    *out = strcasecmp(value, "true") == 0 || strcmp(value, "1") == 0;
    return *out || strcasecmp(value, "false") == 0 || strcmp(value, "0") == 0;
}

static bool is(const char *key, const char *name)
{
    return strcmp(key, name) == 0;
}

/* Set the value of one key; unknown keys are ignored. false: damaged or not supported. */
static bool set(struct header *h, const char *key, const char *value)
{
    static const struct {
        const char *name;
        enum fbp_type type;
    } types[] = {
        {"MET_UCHAR", FBP_U8},   {"MET_CHAR", FBP_I8},  {"MET_USHORT", FBP_U16},
        {"MET_SHORT", FBP_I16},  {"MET_UINT", FBP_U32}, {"MET_INT", FBP_I32},
        {"MET_ULONG", FBP_U32},  {"MET_LONG", FBP_I32}, {"MET_FLOAT", FBP_F32},
        {"MET_DOUBLE", FBP_F64},
    };
    size_t n = 0;
    bool fine = true;

    if (is(key, "NDims")) {
        fine = fbp_parse_sizes(value, 1, &h->n_dims, &n);
        h->n_dims = fine ? h->n_dims : 0;
        return fine;
    }
    if (is(key, "DimSize"))
        return fbp_parse_sizes(value, DIMS, h->sizes, &h->n_sizes);
    if (is(key, "ElementSpacing"))
        return fbp_parse_numbers(value, DIMS, h->spacing, true, &h->n_spacing);
    if (is(key, "ElementSize"))
        return fbp_parse_numbers(value, DIMS, h->size, true, &h->n_size);
    if (is(key, "Offset") || is(key, "Origin") || is(key, "Position"))
        return fbp_parse_numbers(value, DIMS, h->origin, true, &h->n_origin);
    if (is(key, "TransformMatrix") || is(key, "Rotation") || is(key, "Orientation"))
        return fbp_parse_numbers(value, sizeof h->matrix / sizeof *h->matrix, h->matrix, true,
                                 &h->n_matrix);
    if (is(key, "ElementType")) {
        h->wide = is(value, "MET_LONG_LONG") || is(value, "MET_ULONG_LONG");
        fine = h->wide;
        for (size_t i = 0; i < sizeof types / sizeof *types; i++)
            if (is(value, types[i].name)) {
                h->type = types[i].type;
                fine = true;
            }
        return fine;
    }
    if (is(key, "BinaryDataByteOrderMSB") || is(key, "ElementByteOrderMSB"))
        return truth(value, &h->msb);
    if (is(key, "CompressedData"))
        return truth(value, &h->compressed);
    if (is(key, "BinaryData")) {
        bool binary = false;
        fine = truth(value, &binary);
        h->ascii = !binary;
        return fine;
    }
    if (is(key, "HeaderSize"))
        return fbp_parse_integer(value, &h->header_size);
    if (is(key, "ElementNumberOfChannels"))
        return fbp_parse_integer(value, &h->channels);
    if (is(key, "CompressedDataSize"))
        return fbp_parse_integer(value, &h->compressed_size) && h->compressed_size >= 0;
    if (is(key, "ElementToIntensityFunctionSlope"))
        return fbp_parse_numbers(value, 1, &h->slope, true, &n) && h->slope != 0;
    if (is(key, "ElementToIntensityFunctionOffset"))
        return fbp_parse_numbers(value, 1, &h->intercept, true, &n);
    if (is(key, "Comment"))
        snprintf(h->history, sizeof h->history, "%.255s", value);
    if (is(key, "Unit") && snprintf(h->unit, sizeof h->unit, "%s", value) >= (int)sizeof h->unit)
        h->unit[0] = '\0'; /* fbp writes only short units */
    if (is(key, "ElementDataFile"))
        fine = snprintf(h->data_file, sizeof h->data_file, "%s", value) < (int)sizeof h->data_file;
    return fine;
}

/* Parse a MetaImage header text[n] in place, up to the name of the samples' file, and check it. */
static fbp_status parse(const char *path, char *text, size_t n, struct header *h)
{
    for (char *line = text; line < text + n && !h->data_file[0];) {
        char *newline = memchr(line, '\n', (size_t)(text + n - line));
        char *next = newline ? newline + 1 : text + n;

        if (newline)
            *newline = '\0';
        h->end = (size_t)(next - text);
        char *equal = strchr(line, '=');
        if (equal) {
            *equal = '\0';
            const char *key = fbp_ini_trim(line), *value = fbp_ini_trim(equal + 1);
            if (!set(h, key, value))
                return FBP_INVALID("%s: MetaImage header: \"%s = %.80s\" is damaged or not "
                                   "supported; correct the header",
                                   path, key, value);
        } else if (*fbp_ini_trim(line)) {
            return FBP_INVALID(
                "%s: MetaImage header: no '=' in the line \"%.40s\"; correct the header", path,
                line);
        }
        line = next;
    }

    if (h->wide)
        return FBP_UNSUPPORTED("%s: MetaImage: integers of 64 bits are not supported; save the "
                               "file as MET_INT, or as MET_DOUBLE if the numbers are large",
                               path);
    if (!h->data_file[0] || !h->n_sizes || h->type == FBP_TYPE_NONE)
        return FBP_INVALID(
            "%s: MetaImage header: %s is missing; the file is damaged, copy it again", path,
            !h->n_sizes                ? "DimSize"
            : h->type == FBP_TYPE_NONE ? "ElementType"
                                       : "ElementDataFile");
    if (h->n_dims < 2 || h->n_sizes != h->n_dims)
        return FBP_INVALID(
            "%s: MetaImage header: found NDims = %zu and %zu numbers in DimSize; give two to four "
            "dimensions (x, y, z, time), with one number per dimension",
            path, h->n_dims, h->n_sizes);
    for (size_t i = 4; i < h->n_dims; i++)
        if (h->sizes[i] != 1)
            return FBP_UNSUPPORTED(
                "%s: MetaImage: has %zu dimensions, and dimension %zu has size %zu, but dimensions "
                "after the fourth must have size 1; save each series of volumes as a separate file",
                path, h->n_dims, i + 1, h->sizes[i]);
    if (h->ascii || (h->channels != 0 && h->channels != 1))
        return FBP_UNSUPPORTED("%s: MetaImage: text samples and several channels are not "
                               "supported; save the file as one binary channel",
                               path);
    if (h->header_size < -1 || (h->header_size == -1 && h->compressed))
        return FBP_INVALID(
            "%s: MetaImage header: HeaderSize = %lld is invalid%s; correct the header", path,
            h->header_size, h->header_size == -1 ? " with compressed samples" : "");

    /* Refuse samples in several files: ElementDataFile is then "LIST", or a pattern such as
     * "slice%03d.raw 1 100 1". */
    bool many = strncmp(h->data_file, "LIST", 4) == 0 && strchr(" \t", h->data_file[4]);
    for (const char *p = h->data_file; (p = strchr(p, '%'));) {
        p += 1 + strspn(p + 1, "0123456789");
        many |= *p == 'd';
    }
    if (many)
        return FBP_UNSUPPORTED(
            "%s: MetaImage: samples in several files (ElementDataFile = %.80s) are not supported; "
            "save them as one file, or name the files by a pattern with \"raw\" in the scan file, "
            "such as \"slice%%03d.raw 1 100\"",
            path, h->data_file);
    return FBP_OK;
}

/* Set spacing and origin. In a rotated grid, both are expressed along the axes of the grid. */
static fbp_status take_spacing(struct fbp_source *src, const struct header *h)
{
    const double *from = h->n_spacing ? h->spacing : h->size;
    const size_t given = h->n_spacing ? h->n_spacing : h->n_size;
    const size_t nd = h->n_dims, n = nd < 3 ? nd : 3;
    double step[3][3] = {{0}}, origin[3];
    bool turned = false;

    if ((given && given != nd) || (h->n_origin && h->n_origin != nd))
        return FBP_INVALID("%s: MetaImage header: %zu spacings and %zu offsets do not fit %zu "
                           "dimensions; correct the header",
                           src->path, given, h->n_origin, nd);
    src->info.has_spacing = given > 0;
    for (size_t i = 0; i < 3; i++) {
        src->info.spacing_mm[i] = i < given ? from[i] : 1;
        src->info.origin_mm[i] = i < h->n_origin ? h->origin[i] : 0;
        if (!(src->info.spacing_mm[i] > 0))
            return FBP_INVALID(
                "%s: MetaImage header: the element spacing %g is not positive; correct the header",
                src->path, src->info.spacing_mm[i]);
    }
    if (h->n_matrix && h->n_matrix != nd * nd)
        return FBP_INVALID("%s: MetaImage header: a TransformMatrix of %zu numbers does not fit "
                           "%zu dimensions; correct the header",
                           src->path, h->n_matrix, nd);
    memcpy(origin, src->info.origin_mm, sizeof origin);
    for (size_t i = 0; i < n && h->n_matrix; i++)
        for (size_t c = 0; c < n; c++) {
            step[i][c] = src->info.spacing_mm[i] * h->matrix[i * nd + c];
            turned |= h->matrix[i * nd + c] != (i == c);
        }
    return turned && src->info.has_spacing
               ? fbp_source_take_axes(src, n, (const double(*)[3])step, origin)
               : FBP_OK;
}

static fbp_status open_mha(struct fbp_source *src)
{
    uint64_t size = fbp_file_bytes(src->fd), bytes = 0;
    const size_t n = size < MAX_HEADER ? (size_t)size : MAX_HEADER;
    struct fbp_array_info *info = &src->info;
    char *head = NULL, *path = NULL;
    struct stat header, samples;
    struct header *h = NULL;
    fbp_status st;

    FBP_TRY_GOTO(fbp_calloc((void **)&h, 1, sizeof *h, "a MetaImage header"));
    FBP_TRY_GOTO(fbp_calloc((void **)&head, n + 1, 1, "a MetaImage header"));
    FBP_TRY_GOTO(fbp_read_at(src->fd, src->path, 0, head, n));
    FBP_TRY_GOTO(parse(src->path, head, n, h));
    const bool local = strcasecmp(h->data_file, "LOCAL") == 0;
    snprintf(info->format, sizeof info->format, "%s", local ? "mha" : "mhd");
    FBP_TRY_GOTO(take_spacing(src, h));
    for (size_t i = 0; i < 3; i++)
        info->n[i] = i < h->n_sizes ? h->sizes[i] : 1;
    if (h->n_sizes > 3)
        FBP_TRY_GOTO(fbp_frames_take(src->path, info, h->sizes[3]));
    info->type = h->type;
    info->big_endian = h->msb;
    memcpy(info->unit, h->unit, sizeof h->unit);
    memcpy(info->history, h->history, sizeof h->history);
    if (h->slope != 0 && (h->slope < 1 || h->slope > 1 || h->intercept != 0)) {
        info->scale = h->slope;
        info->offset = h->intercept;
    }
    FBP_TRY_GOTO(fbp_array_bytes(src->path, info, &bytes));

    /* The samples are in the file of the header (ElementDataFile = LOCAL), or in another file. */
    if (src->growing && h->header_size == -1)
        FBP_TRY_GOTO(
            FBP_UNSUPPORTED("%s: MetaImage header: --follow cannot read a file with HeaderSize = "
                            "-1, which counts from the end; give the size of the header",
                            src->path));
    src->offset = local ? h->end : 0;
    if (!local) {
        path = fbp_path_join(src->path, h->data_file);
        FBP_TRY_GOTO(fbp_check_path(path));
        const bool known = fstat(src->fd, &header) == 0;
        FBP_TRY_GOTO(fbp_source_use_file(src, path, &size));
        if (known && fstat(src->fd, &samples) == 0 && header.st_dev == samples.st_dev &&
            header.st_ino == samples.st_ino && h->header_size == 0)
            FBP_TRY_GOTO(FBP_INVALID("%s: ElementDataFile names the header itself; name the file "
                                     "of the samples, or LOCAL if they follow the header",
                                     src->path));
    }
    if (h->header_size > 0)
        src->offset = (uint64_t)h->header_size;
    else if (h->header_size == -1)
        src->offset = size > bytes ? size - bytes : 0;
    if (h->compressed)
        st = fbp_inflate_open(src, (uint64_t)h->compressed_size, 0, bytes);
fail:
    free(path);
    free(head);
    free(h);
    return st;
}

/* ---- Writing. `Unit` is a key of fbp, which other readers ignore. MetaImage's
 * ElementToIntensityFunction gives the scale of integers. */

/* Create a MetaImage header. compressed_bytes: size of the compressed samples; 0: not compressed.
 * The length of the header does not depend on this size, because the header is created again when
 * the size is known. */
static fbp_status write_header(const char *path, const struct fbp_array_info *info,
                               uint64_t compressed_bytes, const char *data_file, char **out)
{
    const bool series = fbp_array_frames(info) > 1;
    char size[64] = "", unit[32] = "", scale[160] = "", comment[280] = "", place[480] = "";
    char frames[32] = "", a[32], b[32], origin[100], spacing[100];
    const char *element = info->type == FBP_U8    ? "MET_UCHAR"
                          : info->type == FBP_U16 ? "MET_USHORT"
                          : info->type == FBP_I16 ? "MET_SHORT"
                          : info->type == FBP_F64 ? "MET_DOUBLE"
                                                  : "MET_FLOAT";
    bool given = false;

    FBP_TRY(fbp_sink_spacing(path, info, &given));
    if (compressed_bytes)
        snprintf(size, sizeof size, "CompressedDataSize = %20llu\n",
                 (unsigned long long)compressed_bytes);
    if (series)
        snprintf(frames, sizeof frames, " %zu", info->time_points);
    if (given) /* the spacing along time is 1 */
        snprintf(place, sizeof place, "Offset = %s%s\nElementSpacing = %s%s\n",
                 fbp_triple_text(origin, sizeof origin, " ", info->origin_mm), series ? " 0" : "",
                 fbp_triple_text(spacing, sizeof spacing, " ", info->spacing_mm),
                 series ? " 1" : "");
    if (info->unit[0])
        snprintf(unit, sizeof unit, "Unit = %.15s\n", info->unit);
    if (info->history[0])
        snprintf(comment, sizeof comment, "Comment = %s\n", info->history);
    if (info->scale != 0)
        snprintf(scale, sizeof scale,
                 "ElementToIntensityFunctionSlope = %s\nElementToIntensityFunctionOffset = %s\n",
                 fbp_number_text(a, info->scale), fbp_number_text(b, info->offset));
    *out = fbp_format("ObjectType = Image\nNDims = %d\nBinaryData = True\n"
                      "BinaryDataByteOrderMSB = False\nCompressedData = %s\n%s"
                      "TransformMatrix = %s\n%s%s%s%sDimSize = %zu %zu %zu%s\n"
                      "ElementType = %s\nElementDataFile = %s\n",
                      series ? 4 : 3, compressed_bytes ? "True" : "False", size,
                      series ? "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1" : "1 0 0 0 1 0 0 0 1", place, unit,
                      comment, scale, info->n[0], info->n[1], fbp_frame_slices(info), frames,
                      element, data_file);
    return *out ? FBP_OK : fbp_fail_nomem(512, "a MetaImage header");
}

static fbp_status layout(const char *path, const struct fbp_array_info *info,
                         uint64_t compressed_bytes, struct fbp_layout *out)
{
    const char *name;

    if (fbp_has_extension(path, ".mhd")) {
        FBP_TRY(fbp_layout_pair(out, path, ".mhd", compressed_bytes ? ".zraw" : ".raw", &name));
        return write_header(path, info, compressed_bytes, name, &out->side_text);
    }
    FBP_TRY(write_header(path, info, compressed_bytes, "LOCAL", &out->header));
    out->header_bytes = strlen(out->header);
    return fbp_layout_one(out, path);
}

static const struct fbp_sink_format files[] = {
    {.extensions = ".mha", .layout = layout, .can_compress = true, .frames = true},
    {.extensions = ".mhd", .layout = layout, .can_compress = true, .frames = true},
    {0},
};

const struct fbp_format fbp_format_mha = {
    .name = "mha",
    .title = "MHA",
    .extensions = ".mha .mhd",
    .detect = detect,
    .open = open_mha,
    .files = files,
};
