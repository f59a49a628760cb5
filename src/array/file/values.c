/* Converts contiguous samples of a file to float values, in blocks that stay in the processor's
 * caches. Also contains the table of sample types (fbp_type_size() is public), and functions that
 * several formats share: axes of rotated grids, complex samples, MATLAB's order of indices.
 * Used by: cli/, array/, pipeline/, scan/. */
#include "array/file/bytes.h"
#include "array/file/format.h"
#include "base/math.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#if defined(__SSE2__)
#    include <emmintrin.h>
#endif

enum {
    READ_BYTES = 1 << 16,        /* bytes per read, which fit into the second-level cache */
    BLOCK = 1024,                /* floats per block, which fit into the first-level cache */
    LINE = 16,                   /* floats in a cache line */
    PAST_CACHES_FROM = 256 << 10 /* least number of floats that are written past the caches */
};

static void convert(const struct fbp_array_info *info, const void *in, size_t n, float *out)
{
    fbp_to_float(info->type, info->scale, info->offset, in, n, out);
}

#if defined(__SSE2__)

bool fbp_past_caches(size_t n)
{
    return n >= PAST_CACHES_FROM;
}

/* Convert n integers of 8 or 16 bits to float, sixteen at a time, with stores that bypass the
 * caches. in: any alignment; n: a multiple of 16 (LINE); to: start of a cache line. */
static inline void stream_as(enum fbp_type type, const char *in, size_t n, float *to)
{
    const bool narrow = type == FBP_U8 || type == FBP_I8;
    const bool negative = type == FBP_I8 || type == FBP_I16;
    const __m128i zero = _mm_setzero_si128();

    for (size_t i = 0; i < n; i += LINE, in += narrow ? LINE : 2 * LINE, to += LINE) {
        const __m128i a = _mm_loadu_si128((const void *)in);
        __m128i half[2] = {a, narrow ? a : _mm_loadu_si128((const void *)(in + 16))};

        if (narrow) { /* into the upper bytes, where the sign is */
            half[0] = _mm_unpacklo_epi8(zero, a);
            half[1] = _mm_unpackhi_epi8(zero, a);
        }
        for (int k = 0; k < 4; k++) {
            const __m128i h = half[k / 2];
            const __m128i top = k % 2 ? _mm_unpackhi_epi16(zero, h) : _mm_unpacklo_epi16(zero, h);
            const int by = narrow ? 24 : 16;
            _mm_stream_ps(to + 4 * k, _mm_cvtepi32_ps(negative ? _mm_srai_epi32(top, by)
                                                               : _mm_srli_epi32(top, by)));
        }
    }
}

/* Convert n samples with streaming stores, which write cache lines without reading them first. n: a
 * multiple of LINE; to: start of a cache line. */
static void stream_lines(const struct fbp_array_info *info, const char *in, size_t n, float *to)
{
    const size_t size = fbp_type_size(info->type);
    const enum fbp_type type = info->scale != 0 ? FBP_TYPE_NONE : info->type;
    float block[BLOCK];

    if (type == FBP_U8)
        stream_as(FBP_U8, in, n, to);
    else if (type == FBP_I8)
        stream_as(FBP_I8, in, n, to);
    else if (type == FBP_U16)
        stream_as(FBP_U16, in, n, to);
    else if (type == FBP_I16)
        stream_as(FBP_I16, in, n, to);
    else
        for (size_t i = 0; i < n; i += BLOCK) {
            const size_t some = n - i < BLOCK ? n - i : BLOCK;
            convert(info, in + i * size, some, block);
            for (size_t k = 0; k < some; k += 4)
                _mm_stream_ps(to + i + k, _mm_loadu_ps(block + k));
        }
    _mm_sfence(); /* makes the streaming stores visible to other threads */
}

#else

bool fbp_past_caches(size_t n)
{
    (void)n;
    return false;
}

static void stream_lines(const struct fbp_array_info *info, const char *in, size_t n, float *to)
{
    convert(info, in, n, to);
}

#endif

void fbp_to_values(const struct fbp_array_info *info, const void *in, size_t n, bool past_caches,
                   float *out)
{
    const size_t size = fbp_type_size(info->type);
    const size_t before = (LINE - (uintptr_t)out / sizeof *out % LINE) % LINE;

    if (!past_caches || n < before + LINE) {
        convert(info, in, n, out);
        return;
    }
    const size_t lines = (n - before) / LINE * LINE, end = before + lines;
    convert(info, in, before, out);
    stream_lines(info, (const char *)in + before * size, lines, out + before);
    convert(info, (const char *)in + end * size, n - end, out + end);
}

fbp_status fbp_read_values(int fd, const char *path, uint64_t at, const struct fbp_array_info *info,
                           size_t n, float *out)
{
    const size_t size = fbp_type_size(info->type);
    const bool past_caches = fbp_past_caches(n);
    fbp_status st = FBP_OK;
    void *in = NULL;

    FBP_TRY(fbp_alloc(&in, READ_BYTES, "numbers of a file"));
    while (n > 0 && st == FBP_OK) {
        /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): no sample of an open file has 0 bytes */
        const size_t some = n < READ_BYTES / size ? n : READ_BYTES / size;
        st = fbp_read_numbers(fd, path, at, info, some, in);
        if (st == FBP_OK)
            fbp_to_values(info, in, some, past_caches, out);
        n -= some;
        out += some;
        at += some * size;
    }
    fbp_free(in);
    return st;
}

fbp_status fbp_read_numbers(int fd, const char *path, uint64_t at,
                            const struct fbp_array_info *info, size_t n, void *out)
{
    const size_t size = fbp_type_size(info->type);
    const bool foreign = fbp_is_foreign(info->big_endian) && size > 1;

    for (char *to = out; n > 0;) {
        /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): no sample of an open file has 0 bytes */
        const size_t most = READ_BYTES / size, some = foreign && n > most ? most : n;
        FBP_TRY(fbp_read_at(fd, path, at, to, some * size));
        if (foreign)
            fbp_swap_bytes(to, size, some);
        n -= some;
        to += some * size;
        at += some * size;
    }
    return FBP_OK;
}

/* ---- types of samples */

static const struct {
    const char *name;
    size_t size;
    const char *numpy;
} types[] = {
    [FBP_TYPE_NONE] = {"none", 0, ""}, [FBP_U8] = {"uint8", 1, "u1"},
    [FBP_I8] = {"int8", 1, "i1"},      [FBP_U16] = {"uint16", 2, "u2"},
    [FBP_I16] = {"int16", 2, "i2"},    [FBP_U32] = {"uint32", 4, "u4"},
    [FBP_I32] = {"int32", 4, "i4"},    [FBP_F32] = {"float32", 4, "f4"},
    [FBP_F64] = {"float64", 8, "f8"},
};

enum { N_TYPES = sizeof types / sizeof *types };

size_t fbp_type_size(enum fbp_type type)
{
    return (size_t)type < N_TYPES ? types[type].size : 0;
}

const char *fbp_type_name(enum fbp_type type)
{
    return (size_t)type < N_TYPES ? types[type].name : "none";
}

fbp_status fbp_check_float(const char *where, enum fbp_type type)
{
    if (type == FBP_F32 || type == FBP_F64)
        return FBP_OK;
    return FBP_INVALID("%s: type: found %s, expected float32 or float64", where,
                       fbp_type_name(type));
}

enum fbp_type fbp_type_from_name(const char *name)
{
    for (size_t i = 1; name && i < N_TYPES; i++)
        if (strcmp(types[i].name, name) == 0)
            return (enum fbp_type)i;
    return FBP_TYPE_NONE;
}

const char *fbp_type_to_numpy(enum fbp_type type)
{
    return types[type].numpy;
}

enum fbp_type fbp_type_from_numpy(const char *code, size_t n)
{
    for (size_t i = 1; i < N_TYPES; i++)
        if (strlen(types[i].numpy) == n && memcmp(types[i].numpy, code, n) == 0)
            return (enum fbp_type)i;
    return n == 2 && memcmp(code, "b1", 2) == 0 ? FBP_U8 : FBP_TYPE_NONE; /* truth values */
}

/* ---- functions for several formats: axes of grids, complex samples, order of indices */

fbp_status fbp_source_take_axes(struct fbp_source *src, size_t n, const double (*step)[3],
                                const double origin[3])
{
    /* greatest cosine between two axes that count as orthogonal; files store at least six digits */
    static const double skew = 1e-3;
    struct fbp_array_info *info = &src->info;

    for (size_t i = 0; i < 3; i++) {
        const double length = i < n ? fbp_norm(step[i]) : 1;
        if (!(length > 0) || !isfinite(length))
            return FBP_INVALID(
                "%s: the spacing along axis %zu is %g mm, which is invalid; correct the header",
                src->path, i, length);
        info->spacing_mm[i] = length;
        info->origin_mm[i] = i < n ? fbp_dot(origin, step[i]) / length : 0;
        if (i < n && fabs(step[i][i]) == length) /* axis-parallel steps, without rounding */
            info->origin_mm[i] = step[i][i] > 0 ? origin[i] : 0 - origin[i];
        if (!isfinite(info->origin_mm[i]))
            return FBP_INVALID("%s: the origin along axis %zu is not finite; correct the header",
                               src->path, i);
    }
    for (size_t i = 1; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (fabs(fbp_dot(step[i], step[j])) > skew * info->spacing_mm[i] * info->spacing_mm[j])
                return FBP_UNSUPPORTED(
                    "%s: axes %zu and %zu are not orthogonal; resample the volume to "
                    "an orthogonal grid",
                    src->path, j, i);
    info->has_spacing = true;
    return FBP_OK;
}

fbp_status fbp_source_take_pitch(struct fbp_source *src, const double pitch_mm[2])
{
    const double step[2][3] = {{pitch_mm[0], 0, 0}, {0, pitch_mm[1], 0}};
    const double origin[3] = {-0.5 * ((double)src->info.n[0] - 1) * pitch_mm[0],
                              -0.5 * ((double)src->info.n[1] - 1) * pitch_mm[1]};

    return fbp_source_take_axes(src, 2, step, origin);
}

static fbp_status read_part(fbp_source *src, size_t slice, size_t row0, size_t n_rows, void *out)
{
    const size_t n = src->info.n[0], size = fbp_type_size(src->info.type);
    const size_t first = src->imaginary;
    char *row = NULL, *to = out;
    fbp_status st = FBP_OK;

    FBP_TRY(fbp_calloc((void **)&row, 2 * n, size, "a row of complex numbers"));
    for (size_t r = row0; r < row0 + n_rows && st == FBP_OK; r++) {
        const uint64_t at = ((uint64_t)slice * src->info.n[1] + r) * n * 2 * size;
        st = fbp_read_numbers(src->fd, src->path, src->offset + at, &src->info, 2 * n, row);
        for (size_t i = 0; i < n; i++, to += size)
            memcpy(to, row + (2 * i + first) * size, size);
    }
    free(row);
    return st;
}

void fbp_source_take_complex_part(struct fbp_source *src)
{
    if (!src->imaginary)
        snprintf(src->info.taken, sizeof src->info.taken,
                 "%.240s: the samples are complex; only their real parts are used", src->path);
    src->complex = true;
    src->read = read_part;
}

fbp_status fbp_column_major_write(int fd, const char *path, const void *data, size_t size,
                                  const size_t n[3])
{
    enum { BLOCK_BYTES = 4 << 20 };
    const size_t slice = n[0] * n[1] * size;
    const size_t at_once = slice < BLOCK_BYTES ? BLOCK_BYTES / slice : 1;
    fbp_status st = FBP_OK;
    char *block = NULL;

    FBP_TRY(fbp_alloc((void **)&block, (at_once < n[2] ? at_once : n[2]) * slice, "an array"));
    for (size_t k = 0; k < n[2] && st == FBP_OK; k += at_once) {
        const size_t m = n[2] - k < at_once ? n[2] - k : at_once;
        for (size_t r = 0; r < n[1]; r++)
            for (size_t c = 0; c < n[0]; c++) {
                const char *from = (const char *)data + (k + n[2] * (r + n[1] * c)) * size;
                char *to = block + (r * n[0] + c) * size;
                for (size_t i = 0; i < m; i++)
                    memcpy(to + i * slice, from + i * size, size);
            }
        st = fbp_write_at(fd, path, (uint64_t)k * slice, block, m * slice);
    }
    fbp_free(block);
    return st;
}
