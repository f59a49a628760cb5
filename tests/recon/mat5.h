/** @file mat5.h  One double array out of a MATLAB v5 file, until the library reads them. */
#ifndef FBP_TESTS_MAT5_H
#define FBP_TESTS_MAT5_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { MI_DOUBLE = 9, MI_MATRIX = 14, MI_COMPRESSED = 15, MX_DOUBLE = 6 };

static inline uint32_t mat5_u32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Any aligned place that starts a real double matrix of rows x columns: flags, dimensions, name,
 * then plain doubles.  Fields of structs are such places too. */
static inline double *mat5_find(const unsigned char *p, size_t n, uint32_t rows, uint32_t columns)
{
    for (size_t at = 0; at + 64 < n; at += 8) {
        if (mat5_u32(p + at) != 6 || mat5_u32(p + at + 4) != 8 || p[at + 8] != MX_DOUBLE)
            continue;
        if (mat5_u32(p + at + 16) != 5 || mat5_u32(p + at + 20) != 8 ||
            mat5_u32(p + at + 24) != rows || mat5_u32(p + at + 28) != columns)
            continue;
        const uint32_t name =
            mat5_u32(p + at + 36); /* long form; the short form holds <= 4 bytes */
        size_t data = at + 32 + 8;
        if (mat5_u32(p + at + 32) == 1)
            data += (name + 7u) / 8u * 8u;
        const size_t bytes = (size_t)rows * columns * 8;
        if (data + 8 + bytes > n || mat5_u32(p + data) != MI_DOUBLE)
            continue;
        double *out = malloc(bytes);
        if (out)
            memcpy(out, p + data + 8, bytes);
        return out;
    }
    return NULL;
}

/** The rows x columns real double array of a file, column-major; NULL if there is none. */
static inline double *mat5_read(const char *path, uint32_t rows, uint32_t columns)
{
    FILE *f = fopen(path, "rb");
    double *found = NULL;
    unsigned char tag[8];

    if (!f || fseek(f, 128, SEEK_SET) != 0) {
        if (f)
            fclose(f);
        return NULL;
    }
    while (!found && fread(tag, 1, 8, f) == 8) {
        const uint32_t type = mat5_u32(tag), n = mat5_u32(tag + 4);
        unsigned char *in = malloc(n ? n : 1);
        if (!in || fread(in, 1, n, f) != n) {
            free(in);
            break;
        }
        if (type == MI_COMPRESSED) {
            uLongf size = (uLongf)rows * columns * 8 + (16u << 20);
            unsigned char *out = malloc(size);
            if (out && uncompress(out, &size, in, n) == Z_OK)
                found = mat5_find(out, size, rows, columns);
            free(out);
        } else {
            found = mat5_find(in, n, rows, columns);
        }
        free(in);
    }
    fclose(f);
    return found;
}

#endif /* FBP_TESTS_MAT5_H */
