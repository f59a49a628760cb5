/* Reader of RabbitCT data sets (Rohkohl, Keck, Hofmann, Hornegger 2009): a header, then a matrix
 * and an image per view, then reference volumes, all little-endian. It opens the views as an array
 * (table fbp_format_rabbitct), and reads properties and matrices for the import of scans and for
 * the RabbitCT benchmark.
 *
 *     v1 .rct     uint32 S_x, S_y, N; float32 scale, offset
 *     v2 .rctd    uint32 2, then the fields of v1
 *     per view    float64 A[12], column by column; float32 I[S_y][S_x]
 *     references  uint16 128^3, 256^3, 512^3, 1024^3; fewer are allowed
 *
 * RabbitGeometry.rct is a v1 header with matrices and without images.
 * Used by: bench/rabbitct/, array/, scan/format/. */
#include "array/format/rabbitct.h"
#include "array/file/bytes.h"
#include "base/text.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "RabbitCT data sets are only read");

static const char extensions[] = ".rct .rctd";

/* Limits of a valid RabbitCT header: greatest number of pixels along a side of an image, greatest
 * number of views, least number of columns in version 1. */
enum { MOST_PIXELS = 65535, MOST_VIEWS = 1 << 20, LEAST_V1_COLUMNS = 16 };

bool fbp_rabbitct_named(const char *path)
{
    return fbp_has_extension(path, extensions);
}

fbp_status fbp_rabbitct_read_info(int fd, const char *path, uint64_t size,
                                  struct fbp_rabbitct_info *out)
{
    unsigned char head[24];
    const size_t n = size < sizeof head ? (size_t)size : sizeof head;
    uint32_t first = 0, sizes[3];

    *out = (struct fbp_rabbitct_info){.bytes = size};
    FBP_TRY(fbp_read_at(fd, path, 0, head, n));
    if (n >= sizeof first)
        memcpy(&first, head, sizeof first);
    out->version = first == 2 ? 2 : 1;
    out->header_bytes = out->version == 2 ? 24 : 20;
    if (n < out->header_bytes)
        return FBP_INVALID("%s: is shorter than the header of a RabbitCT data set; the file is "
                           "damaged, copy it again",
                           path);
    if (first != 2 && first < LEAST_V1_COLUMNS)
        return FBP_UNSUPPORTED("%s: version %u of the RabbitCT format is unknown (versions 1 and 2 "
                               "are supported); check that it is a RabbitCT data set",
                               path, (unsigned)first);
    const unsigned char *at = head + (out->version == 2 ? 4 : 0);
    memcpy(sizes, at, sizeof sizes);
    memcpy(out->hu, at + sizeof sizes, sizeof out->hu);
    if (sizes[0] == 0 || sizes[0] > MOST_PIXELS || sizes[1] == 0 || sizes[1] > MOST_PIXELS ||
        sizes[2] == 0 || sizes[2] > MOST_VIEWS || !isfinite(out->hu[0]) || !isfinite(out->hu[1]))
        return FBP_INVALID("%s: the header gives %u views of %u x %u pixels and grey values %g * "
                           "value + %g; the file is damaged, or not a RabbitCT data set",
                           path, (unsigned)sizes[2], (unsigned)sizes[0], (unsigned)sizes[1],
                           (double)out->hu[0], (double)out->hu[1]);
    out->n_columns = sizes[0];
    out->n_rows = sizes[1];
    out->n_views = sizes[2];

    /* The number of reference volumes follows from the size of the file. */
    out->matrices_only = out->version == 1 &&
                         size == out->header_bytes + (uint64_t)out->n_views * FBP_RABBITCT_MATRIX;
    if (out->matrices_only)
        return FBP_OK;
    const uint64_t views_end = fbp_rabbitct_view(out, out->n_views);
    uint64_t end = views_end;
    for (; out->n_references <= FBP_RABBITCT_REFERENCES; out->n_references++) {
        if (size == end)
            return FBP_OK;
        const uint64_t side = fbp_rabbitct_side(out->n_references);
        end += 2 * side * side * side;
    }
    return FBP_INVALID("%s: has %llu bytes, but its header and %zu views of %zu x %zu pixels need "
                       "%llu, and reference volumes of 128^3, 256^3, 512^3 and 1024^3 voxels do "
                       "not explain the difference; the file is damaged, copy it again",
                       path, (unsigned long long)size, out->n_views, out->n_columns, out->n_rows,
                       (unsigned long long)views_end);
}

fbp_status fbp_rabbitct_probe(const char *path, struct fbp_rabbitct_info *out)
{
    uint64_t size = 0;
    int fd = -1;

    fbp_message_clear();
    *out = (struct fbp_rabbitct_info){0};
    FBP_TRY(fbp_open_file(path, &fd, &size));
    const fbp_status st = fbp_rabbitct_read_info(fd, path, size, out);
    close(fd);
    return st;
}

fbp_status fbp_rabbitct_matrices(const char *path, double **out, size_t *n_views)
{
    struct fbp_rabbitct_info info;
    uint64_t size = 0;
    double *P = NULL, A[12];
    int fd = -1;
    fbp_status st = FBP_OK;

    fbp_message_clear();
    *out = NULL;
    *n_views = 0;
    FBP_TRY(fbp_open_file(path, &fd, &size));
    FBP_TRY_GOTO(fbp_rabbitct_read_info(fd, path, size, &info));
    FBP_TRY_GOTO(fbp_calloc((void **)&P, info.n_views, 12 * sizeof *P, "matrices"));
    for (size_t k = 0; k < info.n_views; k++) {
        FBP_TRY_GOTO(fbp_read_at(fd, path, fbp_rabbitct_view(&info, k), A, sizeof A));
        for (size_t i = 0; i < 12; i++) { /* by columns in the file, by rows here */
            if (!isfinite(A[i]))
                FBP_TRY_GOTO(FBP_INVALID("%s: the matrix of view %zu contains a number that is not "
                                         "finite; the file is damaged, copy it again",
                                         path, k));
            P[12 * k + i % 3 * 4 + i / 3] = A[i];
        }
    }
    *out = P;
    *n_views = info.n_views;
    P = NULL;
fail:
    close(fd);
    free(P);
    return st;
}

/* ---- the views as a source */

static bool detect(const char *path, const unsigned char *head, size_t n)
{
    (void)head;
    (void)n;
    return fbp_rabbitct_named(path); /* there is no magic number */
}

static fbp_status read_rows(fbp_source *src, size_t slice, size_t row0, size_t n_rows, void *out)
{
    const struct fbp_rabbitct_info *info = src->state;
    const size_t row = info->n_columns * sizeof(float);
    const uint64_t at = fbp_rabbitct_view(info, slice) + FBP_RABBITCT_MATRIX + row0 * row;

    return fbp_read_at(src->fd, src->path, at, out, n_rows * row);
}

static fbp_status open_source(fbp_source *src)
{
    struct fbp_rabbitct_info *info = NULL;

    FBP_TRY(fbp_calloc((void **)&info, 1, sizeof *info, "a source"));
    src->state = info;
    src->close = fbp_source_free_state;
    src->read = read_rows;
    FBP_TRY(fbp_rabbitct_read_info(src->fd, src->path, fbp_file_bytes(src->fd), info));
    if (info->matrices_only)
        return FBP_INVALID(
            "%s: contains the matrices of %zu views, but no images; give RabbitInput.rct",
            src->path, info->n_views);
    src->info.n[0] = info->n_columns;
    src->info.n[1] = info->n_rows;
    src->info.n[2] = info->n_views;
    src->info.type = FBP_F32;
    src->info.row_order = FBP_ROWS_BOTTOM_UP; /* matrices count rows as they are stored */
    return FBP_OK;
}

const struct fbp_format fbp_format_rabbitct = {
    .name = "rabbitct",
    .title = "RabbitCT",
    .extensions = extensions,
    .detect = detect,
    .open = open_source,
};
