/* Reads samples of an opened source as float, as double or in the type of the file, reports its
 * properties, and closes it. fbp_source_read(), fbp_source_info() and fbp_source_close() are
 * public (fbp/array.h).
 * Used by: bench/, cli/, analysis/, array/, picture/, pipeline/, prep/, scan/. */
#include "array/file/bytes.h"
#include "array/file/format.h"
#include "base/text.h"
#include "base/threads.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool fbp_source_in_order(const fbp_source *src)
{
    return src->in_order || src->growing;
}

uint64_t fbp_source_bytes(const fbp_source *src, int n)
{
    return src->held_bytes + (uint64_t)n * src->reader_bytes;
}

bool fbp_source_reads_in_parallel(const fbp_source *src)
{
    return src->unpacks && !fbp_source_in_order(src);
}

const struct fbp_array_info *fbp_source_info(const fbp_source *src)
{
    FBP_REQUIRE_ELSE(NULL, src);
    return &src->info;
}

void fbp_source_close(fbp_source **src)
{
    FBP_REQUIRE_ELSE(, src);
    if (!*src)
        return;
    fbp_follow_destroy(&(*src)->follow);
    if ((*src)->close)
        (*src)->close(*src);
    if ((*src)->owns_below)
        fbp_source_close(&(*src)->below);
    if ((*src)->fd >= 0)
        close((*src)->fd);
    fbp_inputs_clear(&(*src)->inputs);
    fbp_file_states_clear(&(*src)->watch);
    free((*src)->path);
    free((*src)->file);
    free((*src)->member);
    free(*src);
    *src = NULL;
}

void fbp_source_free_state(fbp_source *src)
{
    free(src->state);
}

fbp_status fbp_source_open_one(const fbp_source *all, size_t n_slices, char *path, fbp_source **out)
{
    fbp_source *one = NULL;
    uint64_t size;
    fbp_status st;

    *out = NULL;
    FBP_TRY(fbp_check_path(path));
    FBP_TRY_GOTO(fbp_calloc((void **)&one, 1, sizeof *one, "a source"));
    one->fd = -1;
    one->info = all->info;
    one->info.n[2] = n_slices;
    one->path = path;
    path = NULL;
    FBP_TRY_GOTO(fbp_open_file(one->path, &one->fd, &size));
    *out = one;
    return FBP_OK;
fail:
    free(path);
    fbp_source_close(&one);
    return st;
}

fbp_status fbp_fail_samples(const fbp_source *src, fbp_status st)
{
    char where[512];

    snprintf(where, sizeof where, "%.480s: its samples", src->path);
    return fbp_error_context(where, st);
}

fbp_status fbp_source_use_file(fbp_source *src, const char *path, uint64_t *size)
{
    int fd = -1;

    FBP_TRY(fbp_fail_samples(src, fbp_inputs_add(&src->inputs, path)));
    FBP_TRY(fbp_fail_samples(src, fbp_open_file(path, &fd, size)));
    if (src->fd >= 0)
        close(src->fd);
    src->fd = fd;
    return FBP_OK;
}

/* Check that the requested slices and rows lie inside the volume, and, if the file is still being
 * written, wait until it contains them. */
static fbp_status check_range(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                              size_t n_rows)
{
    const size_t *n = src->info.n;

    if (slice0 > n[2] || n_slices > n[2] - slice0 || row0 > n[1] || n_rows > n[1] - row0)
        return FBP_INVALID(
            "%s: slices from %zu on (%zu of them) and rows from %zu on (%zu) are not "
            "inside the %zu slices of %zu rows; request existing rows",
            src->path, slice0, n_slices, row0, n_rows, n[2], n[1]);
    if (n_slices == 0 || n_rows == 0)
        return FBP_OK;
    FBP_TRY(fbp_check_cancelled());
    return fbp_source_await(src, slice0 + n_slices, NULL, NULL, NULL);
}

fbp_status fbp_source_read_as_is(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                                 size_t n_rows, void *out)
{
    const size_t *n = src->info.n, size = fbp_type_size(src->info.type);
    const bool whole = n_rows == n[1] && !src->read; /* slices in one run */
    const size_t runs = n_rows == 0 ? 0 : whole ? n_slices > 0 : n_slices;
    const size_t samples = (whole ? n_slices : 1) * n_rows * n[0];
    char *to = out;

    fbp_message_clear();
    FBP_TRY(check_range(src, slice0, n_slices, row0, n_rows));
    if (src->read_block && runs)
        return src->read_block(src, slice0, n_slices, row0, n_rows, false, out);
    for (size_t i = 0; i < runs; i++, to += samples * size) {
        const uint64_t first = ((uint64_t)(slice0 + i) * n[1] + row0) * n[0];
        if (src->read) {
            FBP_TRY(src->read(src, slice0 + i, row0, n_rows, to));
            continue;
        }
        FBP_TRY(fbp_read_numbers(src->fd, src->path, src->offset + first * size, &src->info,
                                 samples, to));
    }
    return FBP_OK;
}

static fbp_status read_float(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                             size_t n_rows, float *out)
{
    enum { CHUNK_BYTES = 1 << 16 };
    const size_t nx = src->info.n[0], ny = src->info.n[1], size = fbp_type_size(src->info.type);
    fbp_status st = FBP_OK;
    void *scratch = NULL;

    if (src->info.type == FBP_F32 && src->info.scale == 0)
        return fbp_source_read_as_is(src, slice0, n_slices, row0, n_rows, out);
    FBP_TRY(check_range(src, slice0, n_slices, row0, n_rows));
    if (n_slices == 0 || n_rows == 0)
        return FBP_OK;
    if (src->read_block)
        return src->read_block(src, slice0, n_slices, row0, n_rows, true, out);
    if (!src->read) {
        const bool whole = n_rows == ny; /* slices in one run */
        const size_t runs = whole ? 1 : n_slices, samples = n_slices / runs * n_rows * nx;
        for (size_t i = 0; i < runs; i++, out += samples) {
            const uint64_t first = ((uint64_t)(slice0 + i) * ny + row0) * nx;
            FBP_TRY(fbp_read_values(src->fd, src->path, src->offset + first * size, &src->info,
                                    samples, out));
        }
        return FBP_OK;
    }
    /* The format has its own function read(): a few rows are read at a time, and converted while
     * they are in the caches. */
    const size_t row_bytes = nx * size;
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): no row of an opened file has 0 bytes */
    const size_t at_once = row_bytes < CHUNK_BYTES ? CHUNK_BYTES / row_bytes : 1;
    const bool past_caches = fbp_past_caches(n_rows * nx);
    FBP_TRY(fbp_alloc(&scratch, at_once * row_bytes, "rows of samples"));
    for (size_t i = 0; i < n_slices && st == FBP_OK; i++, out += n_rows * nx)
        for (size_t r = 0; r < n_rows && st == FBP_OK; r += at_once) {
            const size_t n = n_rows - r < at_once ? n_rows - r : at_once;
            st = src->read(src, slice0 + i, row0 + r, n, scratch);
            if (st == FBP_OK)
                fbp_to_values(&src->info, scratch, n * nx, past_caches, out + r * nx);
        }
    fbp_free(scratch);
    return st;
}

/* Read samples as double: they are read into the end of `out`, and converted in place. */
static fbp_status read_double(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                              size_t n_rows, double *out)
{
    const struct fbp_array_info *info = &src->info;
    const size_t n = n_slices * n_rows * info->n[0];
    char *samples = (char *)out + n * (sizeof *out - fbp_type_size(info->type));

    FBP_TRY(check_range(src, slice0, n_slices, row0, n_rows));
    FBP_TRY(fbp_source_read_as_is(src, slice0, n_slices, row0, n_rows, samples));
    if (info->type != FBP_F64 || info->scale != 0)
        fbp_to_double(info->type, info->scale, info->offset, samples, n, out);
    return FBP_OK;
}

fbp_status fbp_source_read(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                           size_t n_rows, enum fbp_type type, void *out)
{
    FBP_REQUIRE(src, out);
    fbp_message_clear();
    FBP_TRY(fbp_check_float("source", type));
    return type == FBP_F32 ? read_float(src, slice0, n_slices, row0, n_rows, out)
                           : read_double(src, slice0, n_slices, row0, n_rows, out);
}
