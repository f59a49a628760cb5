/* NIfTI files for the tests, from bytes. */
#ifndef FBP_TESTS_NIFTI_FILES_H
#define FBP_TESTS_NIFTI_FILES_H

#include "unit/io_util.h"

enum { NX = 5, NY = 4, NZ = 3, SLICE = NX * NY, N = SLICE * NZ, MAX = 544 + 8 * N };

/* A file from bytes: header fields by their place in the two versions. */
struct image {
    unsigned char b[MAX];
    size_t n;
    int version;
    bool big;
};

static inline void put(struct image *im, size_t at, const void *value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        im->b[at + i] = ((const unsigned char *)value)[im->big ? size - 1 - i : i];
}

static inline void put_int(struct image *im, size_t at1, size_t size1, size_t at2, size_t size2,
                           int64_t x)
{
    put(im, im->version == 1 ? at1 : at2, &x, im->version == 1 ? size1 : size2);
    if (im->big) { /* the last bytes of eight */
        const size_t size = im->version == 1 ? size1 : size2, at = im->version == 1 ? at1 : at2;
        for (size_t i = 0; i < size; i++)
            im->b[at + i] = (unsigned char)((uint64_t)x >> 8 * (size - 1 - i));
    }
}

static inline void put_real(struct image *im, size_t at1, size_t at2, double x)
{
    const float f = (float)x;

    if (im->version == 1)
        put(im, at1, &f, sizeof f);
    else
        put(im, at2, &x, sizeof x);
}

static inline void put_dim(struct image *im, size_t i, int64_t x)
{
    put_int(im, 40 + 2 * i, 2, 16 + 8 * i, 8, x);
}

static inline void put_pixdim(struct image *im, size_t i, double x)
{
    put_real(im, 76 + 4 * i, 104 + 8 * i, x);
}

static inline void put_srow(struct image *im, size_t row, const double x[4])
{
    for (size_t i = 0; i < 4; i++)
        put_real(im, 280 + 16 * row + 4 * i, 400 + 32 * row + 8 * i, x[i]);
}

static inline size_t samples_at(const struct image *im)
{
    return im->version == 1 ? 352 : 544;
}

/* 16-bit samples 0 … N-1, spacing 0.5, 1, 2. */
static inline void make(struct image *im, int version, bool big)
{
    memset(im, 0, sizeof *im);
    im->version = version;
    im->big = big;
    put_int(im, 0, 4, 0, 4, version == 1 ? 348 : 540);
    memcpy(im->b + (version == 1 ? 344 : 4), version == 1 ? "n+1" : "n+2\0\r\n\032\n",
           version == 1 ? 4 : 8);
    put_dim(im, 0, 3);
    put_dim(im, 1, NX);
    put_dim(im, 2, NY);
    put_dim(im, 3, NZ);
    put_int(im, 70, 2, 12, 2, 4);
    put_int(im, 72, 2, 14, 2, 16);
    put_real(im, 108, 108, 352);
    if (version == 2)
        put_int(im, 0, 0, 168, 8, 544);
    for (size_t i = 0; i < 4; i++)
        put_pixdim(im, i, i == 0 ? 1 : 0.25 * (double)(1 << i));
    for (size_t i = 0; i < N; i++) {
        const int16_t x = (int16_t)(i * 300);
        put(im, samples_at(im) + 2 * i, &x, 2);
    }
    im->n = samples_at(im) + 2 * N;
}

#endif /* FBP_TESTS_NIFTI_FILES_H */
