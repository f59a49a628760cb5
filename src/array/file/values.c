/* Numbers are converted in blocks, each while the caches still have what was read of it. */
#include "array/file/values.h"
#include "array/file/bytes.h"

#include "base/base.h"

#include <string.h>

#if defined(__SSE2__)
#    include <emmintrin.h>
#endif

enum {
    READ_BYTES = 1 << 16,        /* at once: stays in the second cache */
    BLOCK = 1024,                /* values that stay in the first */
    LINE = 16,                   /* values of a cache line */
    PAST_CACHES_FROM = 256 << 10 /* values */
};

static void convert(const struct fbp_array_info *info, const void *in, size_t n, float *out)
{
    if (info->scale != 0)
        fbp_to_scaled(info->type, info->scale, info->offset, in, n, out);
    else
        fbp_to_float(info->type, in, n, out);
}

#if defined(__SSE2__)

bool fbp_past_caches(size_t n)
{
    return n >= PAST_CACHES_FROM;
}

/* Sixteen numbers, any alignment, of types that conversion alone would slow down. */
static inline void widen(enum fbp_type type, const char *in, __m128 out[4])
{
    const bool narrow = type == FBP_U8 || type == FBP_I8;
    const bool negative = type == FBP_I8 || type == FBP_I16;
    const __m128i zero = _mm_setzero_si128(), a = _mm_loadu_si128((const void *)in);
    __m128i half[2] = {a, narrow ? a : _mm_loadu_si128((const void *)(in + 16))};

    if (narrow) { /* into the upper bytes, where the sign is */
        half[0] = _mm_unpacklo_epi8(zero, a);
        half[1] = _mm_unpackhi_epi8(zero, a);
    }
    for (int i = 0; i < 4; i++) {
        const __m128i h = half[i / 2];
        const __m128i top = i % 2 ? _mm_unpackhi_epi16(zero, h) : _mm_unpacklo_epi16(zero, h);
        const int by = narrow ? 24 : 16;
        out[i] = _mm_cvtepi32_ps(negative ? _mm_srai_epi32(top, by) : _mm_srli_epi32(top, by));
    }
}

/* n: whole lines; to: the start of one. */
static inline void stream_as(enum fbp_type type, const char *in, size_t n, float *to)
{
    const size_t size = type == FBP_U8 || type == FBP_I8 ? 1 : 2;
    __m128 line[4];

    for (size_t i = 0; i < n; i += LINE) {
        widen(type, in + i * size, line);
        for (size_t k = 0; k < 4; k++)
            _mm_stream_ps(to + i + 4 * k, line[k]);
    }
}

/* A line that is written as a whole need not be fetched before. */
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
    _mm_sfence(); /* such stores have an order only towards others that come behind one */
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
        /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): an opened file has a type */
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
        /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): an opened file has a type */
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
