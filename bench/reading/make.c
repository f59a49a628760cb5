#include "make.h"

#include "fbp/array.h"

#include <errno.h>
#include <hdf5.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tiffio.h>

enum { SIDE = MAKE_SIDE, VIEW = SIDE * SIDE, DIFFERENT = 8 };

struct kind {
    const char *name;
    int (*write)(const struct kind *kind, const char *path, size_t n);
    const char *mode; /* of TIFF: byte order */
    enum fbp_type type;
    uint16_t compression; /* of TIFF */
    bool deflate;         /* of HDF5 */
};

/* Views to take turns, and one of them in a kind's type. */
static uint16_t counts[DIFFERENT][VIEW];
static union {
    uint8_t u8[VIEW];
    uint16_t u16[VIEW];
    int16_t i16[VIEW];
    float f32[VIEW];
} view;

/* A round shadow with 8 bits of noise: such counts deflate to about two thirds. */
static void make_views(void)
{
    uint64_t x = 88172645463325252u;

    for (size_t k = 0; k < DIFFERENT; k++)
        for (size_t i = 0; i < VIEW; i++) {
            const double u = (double)(i % SIDE) / SIDE - 0.5, v = (double)i / VIEW - 0.5;
            const double r2 = 4 * (u * u + v * v) * (1 + 0.01 * (double)k);
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            counts[k][i] = (uint16_t)(8000 + 40000 * (r2 < 1 ? r2 : 1) + (double)(x >> 56));
        }
}

static const void *view_as(enum fbp_type type, size_t k)
{
    const uint16_t *from = counts[k % DIFFERENT];

    for (size_t i = 0; i < VIEW; i++)
        if (type == FBP_U8)
            view.u8[i] = (uint8_t)(from[i] >> 6);
        else if (type == FBP_U16)
            view.u16[i] = from[i];
        else if (type == FBP_I16)
            view.i16[i] = (int16_t)(from[i] - 32768);
        else
            view.f32[i] = (float)from[i] / 65536;
    return &view;
}

static int failed(const char *path)
{
    fprintf(stderr, "reading: %s: cannot write: %s\n", path, strerror(errno));
    return 1;
}

static bool put_page(TIFF *t, const struct kind *kind, size_t k)
{
    const size_t size = fbp_type_size(kind->type);
    const size_t rows = kind->compression == COMPRESSION_NONE ? SIDE : 64;
    bool good = true;

    TIFFSetField(t, TIFFTAG_IMAGEWIDTH, SIDE);
    TIFFSetField(t, TIFFTAG_IMAGELENGTH, SIDE);
    TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, 8 * (int)size);
    TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
    TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(t, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(t, TIFFTAG_COMPRESSION, kind->compression);
    TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, (uint32_t)rows);
    if (kind->compression != COMPRESSION_NONE)
        TIFFSetField(t, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL);
    (void)view_as(kind->type, k); /* libtiff changes what it is given */
    for (size_t y = 0; y < SIDE && good; y += rows)
        good = TIFFWriteEncodedStrip(t, (uint32_t)(y / rows), (char *)&view + y * SIDE * size,
                                     (tmsize_t)(rows * SIDE * size)) >= 0;
    return good && TIFFWriteDirectory(t);
}

static int write_pages(const struct kind *kind, const char *path, size_t n)
{
    TIFF *t = TIFFOpen(path, kind->mode);
    bool good = t != NULL;

    for (size_t k = 0; k < n && good; k++)
        good = put_page(t, kind, k);
    if (t)
        TIFFClose(t);
    return good ? 0 : failed(path);
}

static int write_folder(const struct kind *kind, const char *path, size_t n)
{
    char name[4096];
    int rc = 0;

    if (mkdir(path, 0777) < 0 && errno != EEXIST)
        return failed(path);
    for (size_t k = 0; k < n && rc == 0; k++) {
        snprintf(name, sizeof name, "%s/%05zu.tif", path, k);
        TIFF *t = TIFFOpen(name, kind->mode);
        rc = t && put_page(t, kind, k) ? 0 : failed(name);
        if (t)
            TIFFClose(t);
    }
    return rc;
}

static int write_hdf5(const struct kind *kind, const char *path, size_t n)
{
    const hsize_t all[3] = {n, SIDE, SIDE}, one[3] = {1, SIDE, SIDE};
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t how = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(3, all, NULL);
    const hid_t piece = H5Screate_simple(3, one, NULL);
    bool good = true;

    if (kind->deflate) {
        H5Pset_chunk(how, 3, one);
        H5Pset_shuffle(how);
        H5Pset_deflate(how, 1);
    }
    const hid_t set = H5Dcreate2(file, "data", H5T_STD_U16LE, space, H5P_DEFAULT, how, H5P_DEFAULT);
    good = set >= 0;
    for (size_t k = 0; k < n && good; k++) {
        const hsize_t first[3] = {k, 0, 0};
        H5Sselect_hyperslab(space, H5S_SELECT_SET, first, NULL, one, NULL);
        good =
            H5Dwrite(set, H5T_NATIVE_UINT16, piece, space, H5P_DEFAULT, view_as(FBP_U16, k)) >= 0;
    }
    H5Dclose(set);
    H5Sclose(piece);
    H5Sclose(space);
    H5Pclose(how);
    return H5Fclose(file) >= 0 && good ? 0 : failed(path);
}

static int write_mha(const struct kind *kind, const char *path, size_t n)
{
    static const char *const names[] = {[FBP_U8] = "MET_UCHAR",
                                        [FBP_U16] = "MET_USHORT",
                                        [FBP_I16] = "MET_SHORT",
                                        [FBP_F32] = "MET_FLOAT"};
    FILE *f = fopen(path, "wb");
    bool good = f != NULL;

    if (good)
        fprintf(f,
                "ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\n"
                "DimSize = %d %d %zu\nElementType = %s\nElementDataFile = LOCAL\n",
                SIDE, SIDE, n, names[kind->type]);
    for (size_t k = 0; k < n && good; k++)
        good = fwrite(view_as(kind->type, k), fbp_type_size(kind->type), VIEW, f) == VIEW;
    if (f && fclose(f) != 0)
        good = false;
    return good ? 0 : failed(path);
}

static const struct kind kinds[] = {
    {"tiff", write_folder, "wl", FBP_U16, COMPRESSION_NONE, false},
    {"tiff-big-endian", write_folder, "wb", FBP_U16, COMPRESSION_NONE, false},
    {"tiff-deflate", write_pages, "wl8", FBP_U16, COMPRESSION_ADOBE_DEFLATE, false},
    {"tiff-lzw", write_pages, "wl8", FBP_U16, COMPRESSION_LZW, false},
    {"hdf5", write_hdf5, NULL, FBP_U16, 0, false},
    {"hdf5-deflate", write_hdf5, NULL, FBP_U16, 0, true},
    {"uint8", write_mha, NULL, FBP_U8, 0, false},
    {"int16", write_mha, NULL, FBP_I16, 0, false},
    {"uint16", write_mha, NULL, FBP_U16, 0, false},
    {"float32", write_mha, NULL, FBP_F32, 0, false},
};

enum { N_KINDS = sizeof kinds / sizeof *kinds };

void make_kinds(char *out, size_t room)
{
    size_t at = 0;

    out[0] = '\0';
    for (size_t i = 0; i < N_KINDS && at < room; i++)
        at += (size_t)snprintf(out + at, room - at, "%s%s", i ? " " : "", kinds[i].name);
}

int make_data(const char *name, const char *path, size_t mib)
{
    const struct kind *kind = NULL;

    for (size_t i = 0; i < N_KINDS && !kind; i++)
        if (strcmp(kinds[i].name, name) == 0)
            kind = &kinds[i];
    if (!kind) {
        char all[300];
        make_kinds(all, sizeof all);
        fprintf(stderr, "reading: %s: no such kind: one of %s\n", name, all);
        return 2;
    }
    const size_t n = (mib << 20) / (VIEW * fbp_type_size(kind->type));
    make_views();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return kind->write(kind, path, n ? n : 1);
}
