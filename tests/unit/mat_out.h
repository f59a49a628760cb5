/* A writer of MAT files of version 5 for tests, in both byte orders. */
#ifndef FBP_TESTS_MAT_OUT_H
#define FBP_TESTS_MAT_OUT_H

#include "array/format/mat.h"
#include "unit/io_util.h"

#include <byteswap.h>
#include <zlib.h>

/* An array as it lies in a file, behind its tag. */
struct mat_var {
    unsigned char *bytes;
    size_t n;
};

/* Are files written in the other byte order? */
static bool mat_swapped;

/* n elements of `size` bytes, and zeros up to a multiple of 8. */
static inline void mat_append(struct mat_var *v, const void *data, size_t n, size_t size)
{
    const size_t bytes = n * size, all = (bytes + 7) / 8 * 8;

    v->bytes = realloc(v->bytes, v->n + all + 8);
    assert_non_null(v->bytes);
    memset(v->bytes + v->n, 0, all);
    for (size_t i = 0; i < bytes; i++)
        v->bytes[v->n + (mat_swapped ? i / size * size + size - 1 - i % size : i)] =
            ((const unsigned char *)data)[i];
    v->n += all;
}

static inline void mat_element(struct mat_var *v, unsigned type, const void *data, size_t n,
                               size_t size)
{
    const uint32_t tag[2] = {type, (uint32_t)(n * size)};
    const uint32_t small = type | (uint32_t)(n * size) << 16;

    if (n > 0 && n * size <= 4) { /* within the tag */
        mat_append(v, &small, 1, 4);
        v->n -= 4;
        mat_append(v, data, n, size);
        v->n -= 4;
    } else {
        mat_append(v, tag, 2, 4);
        mat_append(v, data, n, size);
    }
}

static inline struct mat_var mat_head(unsigned class, bool complex, const char *name, size_t rank,
                                      const size_t *sizes)
{
    const uint32_t flags[2] = {class | (complex ? 0x800 : 0), 0};
    struct mat_var v = {NULL, 0};
    int32_t n[8];

    for (size_t i = 0; i < rank; i++)
        n[i] = (int32_t)sizes[i];
    mat_element(&v, FBP_MI_UINT32, flags, 2, 4);
    mat_element(&v, FBP_MI_INT32, n, rank, 4);
    mat_element(&v, FBP_MI_INT8, name ? name : "", name ? strlen(name) : 0, 1);
    return v;
}

/* type: of the stored elements; imaginary: NULL if the array is real. */
static inline struct mat_var mat_array(const char *name, unsigned class, unsigned type, size_t rank,
                                       const size_t *sizes, const void *values,
                                       const void *imaginary)
{
    static const size_t bytes[] = {0, 1, 1, 2, 2, 4, 4, 4, 0, 8, 0, 0, 8, 8, 0, 0, 1, 2, 4};
    struct mat_var v = mat_head(class, imaginary != NULL, name, rank, sizes);
    size_t n = 1;

    for (size_t i = 0; i < rank; i++)
        n *= sizes[i];
    mat_element(&v, type, values, n, bytes[type]);
    if (imaginary)
        mat_element(&v, type, imaginary, n, bytes[type]);
    return v;
}

static inline void mat_member(struct mat_var *v, struct mat_var member)
{
    const uint32_t tag[2] = {FBP_MI_MATRIX, (uint32_t)member.n};
    const bool swapped = mat_swapped;

    mat_append(v, tag, 2, 4);
    mat_swapped = false; /* it is swapped already */
    mat_append(v, member.bytes, member.n, 1);
    mat_swapped = swapped;
    free(member.bytes);
}

/* A struct of one element; takes the members. */
static inline struct mat_var mat_struct(const char *name, size_t n, const char *const *names,
                                        const struct mat_var *members)
{
    static const size_t one[2] = {1, 1};
    struct mat_var v = mat_head(FBP_MX_STRUCT, false, name, 2, one);
    const int32_t length = 32;
    char text[10 * 32] = "";

    for (size_t i = 0; i < n; i++)
        snprintf(text + 32 * i, 32, "%s", names[i]);
    mat_element(&v, FBP_MI_INT32, &length, 1, 4);
    mat_element(&v, FBP_MI_INT8, text, 32 * n, 1);
    for (size_t i = 0; i < n; i++)
        mat_member(&v, members[i]);
    return v;
}

/* fclose() */
static inline FILE *mat_create(const char *path)
{
    const uint16_t end[2] = {0x100, 'M' << 8 | 'I'};
    char head[128] = "MATLAB 5.0 MAT-file, of a test";
    FILE *f = not_null(fopen(path, "wb"));

    for (int i = 0; i < 2; i++) {
        const uint16_t x = mat_swapped ? bswap_16(end[i]) : end[i];
        memcpy(head + 124 + 2 * i, &x, sizeof x);
    }
    assert_int_equal(fwrite(head, 1, sizeof head, f), sizeof head);
    return f;
}

/* A variable of a file; takes it. */
static inline void mat_put(FILE *f, struct mat_var v, bool packed)
{
    struct mat_var all = {NULL, 0};
    uLongf n;

    mat_member(&all, v);
    if (packed) {
        n = compressBound(all.n);
        AUTO_FREE unsigned char *bytes = not_null(malloc(n));
        assert_int_equal(compress(bytes, &n, all.bytes, all.n), Z_OK);
        const uint32_t tag[2] = {FBP_MI_COMPRESSED, (uint32_t)n};
        struct mat_var head = {NULL, 0};
        mat_append(&head, tag, 2, 4);
        assert_int_equal(fwrite(head.bytes, 1, head.n, f), head.n);
        assert_int_equal(fwrite(bytes, 1, n, f), n);
        free(head.bytes);
    } else {
        assert_int_equal(fwrite(all.bytes, 1, all.n, f), all.n);
    }
    free(all.bytes);
}

/* One variable more at the end of a file. */
static inline void mat_put_more(const char *path, struct mat_var v, bool packed)
{
    FILE *f = not_null(fopen(path, "ab"));

    mat_put(f, v, packed);
    fclose(f);
}

#endif /* FBP_TESTS_MAT_OUT_H */
