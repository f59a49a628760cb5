/* Reader (versions 1 to 3) and writer (version 1) of NumPy's .npy files; table fbp_format_npy. A
 * file consists of "\x93NUMPY", version, length of the header, header (a Python dictionary with
 * type and shape), samples. https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 * Used by: array/formats.c. */
#include "array/file/bytes.h"
#include "array/file/format.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char magic[6] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};

enum { MAX_HEADER = 1 << 20 };

static bool detect(const char *path, const unsigned char *head, size_t n)
{
    (void)path;
    return n >= sizeof magic && memcmp(head, magic, sizeof magic) == 0;
}

/* Find the value of a key in the Python dictionary of a .npy header; NULL if the key is missing. */
static const char *value_of(const char *dict, const char *key)
{
    const size_t n = strlen(key);

    for (const char *p = dict; (p = strstr(p, key)); p += n) {
        const char *v = p + n;
        if (p == dict || (p[-1] != '\'' && p[-1] != '"') || *v != p[-1])
            continue;
        v += 1 + strspn(v + 1, " \t");
        if (*v == ':')
            return v + 1 + strspn(v + 1, " \t");
    }
    return NULL;
}

/* Number of characters of a header value that an error message quotes: up to the bracket or quote
 * that ends it, at most 60. */
static int value_length(const char *v)
{
    const int first = v ? *v : '\0';
    const char last[] = {(char)(first == '(' ? ')' : first == '[' ? ']' : first), '\0'};
    const size_t n = v && *v ? 1 + strcspn(v + 1, last) + 1 : 60;

    return n < 60 ? (int)n : 60;
}

static fbp_status parse_descr(struct fbp_source *src, const char *v)
{
    const size_t n = v && (*v == '\'' || *v == '"') && v[1] ? strcspn(v + 2, "'\"") : 0;

    if (n > 0 && v[2 + n] == *v && strchr("<>|=", v[1])) {
        src->complex = v[2] == 'c';
        src->info.big_endian = v[1] == '>' || (v[1] == '=' && fbp_is_foreign(false));
        src->info.type = !src->complex                           ? fbp_type_from_numpy(v + 2, n)
                         : n == 2 && v[3] == '8'                 ? FBP_F32
                         : n == 3 && memcmp(v + 3, "16", 2) == 0 ? FBP_F64
                                                                 : FBP_TYPE_NONE;
    }
    if (src->info.type != FBP_TYPE_NONE)
        return FBP_OK;
    return FBP_UNSUPPORTED("%s: NPY element type %.*s is not supported; save the array as float32 "
                           "(array.astype('float32'))",
                           src->path, value_length(v), v ? v : "(none)");
}

static fbp_status parse_shape(struct fbp_source *src, const char *v)
{
    size_t n[4], count = 0;
    bool fits = v && *v == '(';

    for (const char *p = fits ? v + 1 : ""; fits && *p != ')';) {
        char *end = NULL;
        p += strspn(p, " \t");
        if (!isdigit((unsigned char)*p) || count == 4) {
            fits = false;
            break;
        }
        const unsigned long long x = strtoull(p, &end, 10);
        n[count++] = (size_t)x;
        p = end + (*end == 'L');
        p += strspn(p, " \t");
        if (*p == ',')
            p += 1 + strspn(p + 1, " \t");
        else if (*p != ')')
            fits = false;
    }
    if (!fits || count < (src->list ? 1 : 2))
        return FBP_INVALID("%s: NPY shape %.*s, expected two or three dimensions [z][y][x], or "
                           "four for a series [frame][z][y][x]; reshape the array",
                           src->path, value_length(v), v ? v : "(none)");
    for (size_t i = 0; i < 3; i++)
        src->info.n[i] = i < count ? n[count - 1 - i] : 1;
    return fbp_frames_take(src->path, &src->info, count == 4 ? n[0] : 1);
}

static fbp_status open_npy(struct fbp_source *src)
{
    unsigned char h[12];
    uint64_t bytes = 0;
    char *dict = NULL;
    size_t n, at = 10;
    fbp_status st;
    bool ours;

    FBP_TRY(fbp_read_at(src->fd, src->path, 0, h, 10));
    if (memcmp(h, magic, sizeof magic) != 0)
        return FBP_INVALID(
            "%s: not an NPY file, despite its file name; convert it, or correct the name",
            src->path);
    n = h[8] | (size_t)h[9] << 8;
    if (h[6] < 1 || h[6] > 3)
        return FBP_UNSUPPORTED("%s: NPY version %d is unknown (versions 1 to 3 are supported); "
                               "save the file by a current numpy.save()",
                               src->path, h[6]);
    if (h[6] >= 2) {
        at = 12;
        FBP_TRY(fbp_read_at(src->fd, src->path, 10, h + 10, 2));
        n |= (size_t)h[10] << 16 | (size_t)h[11] << 24;
    }
    if (n > MAX_HEADER)
        return FBP_INVALID("%s: the NPY header of %zu bytes is damaged; copy the file again",
                           src->path, n);
    src->offset = at + n;

    FBP_TRY(fbp_calloc((void **)&dict, n + 1, 1, "an NPY header"));
    FBP_TRY_GOTO(fbp_read_at(src->fd, src->path, at, dict, n));
    FBP_TRY_GOTO(parse_descr(src, value_of(dict, "descr")));
    FBP_TRY_GOTO(parse_shape(src, value_of(dict, "shape")));
    const char *fortran = value_of(dict, "fortran_order");
    if (fortran && strncmp(fortran, "True", 4) == 0)
        FBP_TRY_GOTO(FBP_UNSUPPORTED("%s: the NPY array is in Fortran order, which is not "
                                     "supported; save numpy.ascontiguousarray(array)",
                                     src->path));
    if (!fortran || strncmp(fortran, "False", 5) != 0)
        FBP_TRY_GOTO(FBP_INVALID(
            "%s: the NPY header lacks fortran_order; the file is damaged, copy it again",
            src->path));
    if (src->complex) {
        /* Check that the file contains all samples: source.c checks only real samples. */
        const uint64_t size = fbp_file_bytes(src->fd);
        FBP_TRY_GOTO(fbp_array_bytes(src->path, &src->info, &bytes));
        if (src->growing)
            FBP_TRY_GOTO(FBP_UNSUPPORTED(
                "%s: --follow cannot read complex samples; reconstruct when the file is complete",
                src->path));
        if (bytes > UINT64_MAX / 4 || size < src->offset + 2 * bytes)
            FBP_TRY_GOTO(FBP_INVALID("%s: the file has %llu bytes, but its header describes %llu; "
                                     "the file is truncated, copy it again",
                                     src->path, (unsigned long long)size,
                                     (unsigned long long)(src->offset + 2 * bytes)));
        fbp_source_take_complex_part(src);
    }
    if (!src->growing)
        st = fbp_parse_description_beside(src->path, &src->info, &ours);
fail:
    free(dict);
    return st;
}

static fbp_status layout(const char *path, const struct fbp_array_info *info,
                         uint64_t compressed_bytes, struct fbp_layout *out)
{
    char dict[160], frames[32] = "";
    if (fbp_array_frames(info) > 1)
        snprintf(frames, sizeof frames, "%zu, ", info->time_points);
    const int n =
        snprintf(dict, sizeof dict,
                 "{'descr': '%c%s', 'fortran_order': False, 'shape': (%s%zu, %zu, %zu), }",
                 fbp_type_size(info->type) > 1 ? '<' : '|', fbp_type_to_numpy(info->type), frames,
                 fbp_frame_slices(info), info->n[1], info->n[0]);
    /* Pad the header with blanks and a final newline: the samples then start at a multiple of 64
     * bytes. */
    const size_t total = (10 + (size_t)n + 1 + 63) / 64 * 64, length = total - 10;

    (void)compressed_bytes;
    FBP_TRY(fbp_calloc((void **)&out->header, total + 1, 1, "an NPY header"));
    memcpy(out->header, magic, sizeof magic);
    out->header[6] = 1;
    out->header[8] = (char)(length & 0xff);
    out->header[9] = (char)(length >> 8);
    memset(out->header + 10, ' ', length);
    memcpy(out->header + 10, dict, (size_t)n);
    out->header[total - 1] = '\n';
    out->header_bytes = total;
    FBP_TRY(fbp_layout_one(out, path));
    return info->scale != 0 ? fbp_describe_beside(path, info, out) : FBP_OK;
}

static const struct fbp_sink_format files[] = {
    {.extensions = ".npy", .layout = layout, .frames = true}, {0}};

const struct fbp_format fbp_format_npy = {
    .name = "npy",
    .title = "NPY",
    .extensions = ".npy",
    .detect = detect,
    .open = open_npy,
    .files = files,
};
