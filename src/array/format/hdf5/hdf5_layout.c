/* Where the samples of a data set lie, and who reads them: this program or the library. */
#include "array/file/bytes.h"
#include "array/file/describe.h"
#include "array/file/inflate.h"
#include "array/format/hdf5/hdf5_look.h"

#include "base/base.h"

#include <string.h>
#include <sys/stat.h>

enum { FILTER_SHUFFLE = H5Z_FILTER_SHUFFLE, FILTER_DEFLATE = H5Z_FILTER_DEFLATE };

enum { MAX_CHUNKS = 8192 }; /* that are asked for: the library takes n² steps */

static const size_t MAX_BLOCKS = 1 << 24;    /* of the library */
static const size_t LIBRARY_BYTES = 8 << 20; /* that the library reads at once, about; it needs
                                              * kilobytes for a chunk, too */

static uint64_t bytes_of_file(const char *path)
{
    struct stat s;

    return stat(path, &s) == 0 ? (uint64_t)s.st_size : 0;
}

/* The file that the data set is in, which an external link may have led to. */
static fbp_status take_file(struct fbp_hdf5_look *l)
{
    const ssize_t n = H5Fget_name(l->data, l->a.file, sizeof l->a.file);

    if (n <= 0 || (size_t)n >= sizeof l->a.file)
        return fbp_fail(FBP_ERR_INVALID, "%s: the name of its file is too long", l->wanted->path);
    const ssize_t m = H5Iget_name(l->data, l->a.data_set, sizeof l->a.data_set); /* in that file */
    if (m <= 0 || (size_t)m >= sizeof l->a.data_set)
        return fbp_fail(FBP_ERR_INVALID, "%s: has no name in its file", l->wanted->path);
    return FBP_OK;
}

static bool has_user_block(struct fbp_hdf5_look *l)
{
    const hid_t file = H5Iget_file_id(l->data), plist = H5Fget_create_plist(file);
    hsize_t bytes = 1;

    H5Pget_userblock(plist, &bytes);
    H5Pclose(plist);
    H5Fclose(file);
    return bytes != 0;
}

static fbp_status damaged(const struct fbp_hdf5_look *l, const char *what)
{
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: %s: the file is truncated or damaged, or was not closed: copy it again",
                    l->wanted->path, what);
}

/* Samples in one run; never written ones lie nowhere. */
static fbp_status look_contiguous(struct fbp_hdf5_look *l)
{
    const haddr_t at = H5Dget_offset(l->data);
    uint64_t bytes = 0;

    FBP_TRY(fbp_array_bytes(l->wanted->path, &l->a.info, &bytes));
    if (H5Pget_external_count(l->plist) > 0)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: its samples are in raw files beside it: name those with \"raw\" in "
                        "the scan file",
                        l->wanted->path);
    if (at == HADDR_UNDEF || H5Dget_storage_size(l->data) == 0)
        return damaged(l, "its samples were never written");
    if (H5Dget_storage_size(l->data) / fbp_type_size(l->a.info.type) / l->a.info.n[0] /
            l->a.info.n[1] <
        l->a.n_slices)
        return damaged(l, "it has room for fewer samples than its size says");
    l->a.offset = at;
    if (at > bytes_of_file(l->a.file))
        return damaged(l, "its samples lie behind the end of the file");
    return FBP_OK;
}

/* Filters that this program undoes itself; `known` of the library at least. */
static fbp_status look_filters(struct fbp_hdf5_look *l)
{
    const int n = H5Pget_nfilters(l->plist);
    char name[80];

    for (int i = 0; i < n; i++) {
        unsigned flags = 0, config = 0;
        size_t n_values = 0;
        const H5Z_filter_t id = H5Pget_filter2(l->plist, (unsigned)i, &flags, &n_values, NULL,
                                               sizeof name, name, &config);
        if (id == FILTER_SHUFFLE && i == 0) {
            l->a.shuffle = true;
        } else if (id == FILTER_DEFLATE && i == n - 1) {
            l->a.deflate = true;
        } else {
            l->a.how = FBP_HDF5_LIBRARY;
            if (H5Zfilter_avail(id) <= 0)
                return fbp_fail(FBP_ERR_UNSUPPORTED,
                                "%s: is compressed with filter %d (%.40s), which is not installed: "
                                "install it and set HDF5_PLUGIN_PATH, or rewrite the file by "
                                "h5repack -f GZIP=1",
                                l->wanted->path, (int)id, name);
        }
    }
    return FBP_OK;
}

/* A table of all chunks of the grid, in its order. */
static fbp_status list_chunks(const struct fbp_hdf5_look *l, struct fbp_hdf5_chunk **out,
                              unsigned char missing[MAX_CHUNKS])
{
    const uint64_t end = bytes_of_file(l->a.file);
    hsize_t n = 0, at[H5S_MAX_RANK] = {0};
    size_t grid[3];

    fbp_hdf5_grid(&l->a, grid);
    FBP_TRY(fbp_calloc((void **)out, l->a.n_chunks, sizeof **out, "a table of chunks"));
    if (H5Dget_num_chunks(l->data, l->space, &n) < 0 || n == 0 || n > l->a.n_chunks)
        return damaged(l, n == 0 ? "its samples were never written" : "its chunks do not fit it");
    for (hsize_t i = 0; i < n; i++) {
        haddr_t where = 0;
        hsize_t bytes = 0;
        unsigned mask = 0;
        if (H5Dget_chunk_info(l->data, l->space, i, at, &mask, &where, &bytes) < 0)
            return damaged(l, "the table of its chunks cannot be read");
        size_t p[3] = {0};
        for (int d = 0; d < l->a.rank; d++)
            p[fbp_hdf5_axis(&l->a, d)] = at[d] / l->a.chunk[fbp_hdf5_axis(&l->a, d)];
        const size_t k = (p[2] * grid[1] + p[1]) * grid[0] + p[0];
        if (where > end || bytes > end - where || bytes > UINT32_MAX || bytes == 0 ||
            k >= l->a.n_chunks)
            return damaged(l, "a chunk lies outside the file");
        (*out)[k] = (struct fbp_hdf5_chunk){where, (uint32_t)bytes, mask};
        missing[k] = 0;
    }
    return FBP_OK;
}

/* Chunks of selected slices that were never written; missing: 1 a chunk of the grid of `a`. */
static fbp_status note_missing(struct fbp_hdf5_look *l, const struct fbp_hdf5_array *a,
                               const unsigned char *missing)
{
    size_t grid[3], n = 0, all = 0, last = SIZE_MAX;
    unsigned char *lacks = NULL;

    fbp_hdf5_grid(a, grid);
    const size_t layer = grid[0] * grid[1];
    FBP_TRY(fbp_calloc((void **)&lacks, l->a.info.n[2], 1, "a table of slices"));
    for (size_t i = 0; i < l->a.info.n[2]; i++) {
        const size_t at = (l->map ? l->map[i] : i) / a->chunk[2];
        lacks[i] = memchr(missing + at * layer, 1, layer) != NULL;
        for (size_t k = 0; k < layer && at != last; k++, all++)
            n += missing[at * layer + k];
        last = at;
    }
    if (n > 0)
        fbp_describe_missing(l->wanted->path, n, all, "chunks were never written", lacks,
                             &l->a.info);
    free(lacks);
    return FBP_OK;
}

/* The same where the library reads.  It counts chunks, but takes n steps to the n-th: views are
 * named if all that is missing is at the end, as of a measurement that was stopped. */
static fbp_status note_unlisted(struct fbp_hdf5_look *l)
{
    struct fbp_hdf5_array a = l->a;
    hsize_t n[H5S_MAX_RANK], at[H5S_MAX_RANK] = {0}, bytes;
    size_t missing = 0, all = 0, k = 0, grid[3];
    unsigned char *table = NULL;
    unsigned mask;
    haddr_t where;

    fbp_hdf5_count_chunks(l->data, l->plist, &missing, &all);
    if (missing == 0 || missing == all || H5Pget_chunk(l->plist, H5S_MAX_RANK, n) != a.rank)
        return FBP_OK;
    a.chunk[1] = a.chunk[2] = 1;
    for (int i = 0; i < a.rank; i++)
        a.chunk[fbp_hdf5_axis(&a, i)] = n[i];
    fbp_hdf5_grid(&a, grid);
    if (H5Dget_chunk_info(l->data, l->space, all - missing - 1, at, &mask, &where, &bytes) >= 0)
        for (int i = 0; i < a.rank; i++)
            k = k * grid[fbp_hdf5_axis(&a, i)] + at[i] / n[i];
    if (k + 1 + missing != all || all > MAX_BLOCKS || a.rank > 3 || a.how == FBP_HDF5_COLUMNS) {
        fbp_describe_missing(l->wanted->path, missing, all, "chunks were never written", NULL,
                             &l->a.info);
        return FBP_OK;
    }
    FBP_TRY(fbp_calloc((void **)&table, all, 1, "a table of chunks"));
    memset(table + k + 1, 1, missing);
    const fbp_status st = note_missing(l, &a, table);
    free(table);
    return st;
}

/* Slices of a virtual data set that are in no source, or chunks that its sources lack. */
static fbp_status note_virtual(struct fbp_hdf5_look *l)
{
    const struct fbp_hdf5_array *a = &l->a;
    unsigned char *covered = NULL, *lacks = NULL;
    size_t n = 0;
    fbp_status st;

    if (fbp_hdf5_axis(a, 0) != 2 || a->rank > 3)
        return FBP_OK;
    FBP_TRY_GOTO(fbp_calloc((void **)&covered, a->n_slices, 1, "a table of slices"));
    FBP_TRY_GOTO(fbp_calloc((void **)&lacks, a->info.n[2], 1, "a table of slices"));
    fbp_hdf5_covered(l->plist, covered, a->n_slices);
    for (size_t i = 0; i < a->info.n[2]; i++) {
        lacks[i] = !covered[l->map ? l->map[i] : i];
        n += lacks[i];
    }
    if (n > 0)
        fbp_describe_missing(l->wanted->path, n, a->info.n[2],
                             "images of the virtual data set are in no source", lacks, &l->a.info);
    else if (l->missing[0] > 0)
        fbp_describe_missing(l->wanted->path, l->missing[0], l->missing[1],
                             "chunks of its sources were never written", NULL, &l->a.info);
fail:
    free(covered);
    free(lacks);
    return st;
}

int fbp_hdf5_axis(const struct fbp_hdf5_array *a, int i)
{
    return a->sinogram ? 2 - 2 * i : a->rank - 1 - i;
}

void fbp_hdf5_grid(const struct fbp_hdf5_array *a, size_t grid[3])
{
    for (int i = 0; i < 3; i++) {
        const size_t n = i == 2 ? a->n_slices : a->info.n[i];
        grid[i] = a->chunk[i] ? n / a->chunk[i] + (n % a->chunk[i] != 0) : 0;
    }
}

/* 0 if they are more than `most`. */
static size_t count_chunks(const struct fbp_hdf5_array *a, size_t most)
{
    size_t grid[3], n = 0;

    fbp_hdf5_grid(a, grid);
    if (__builtin_mul_overflow(grid[0], grid[1], &n) || __builtin_mul_overflow(n, grid[2], &n) ||
        n > most)
        return 0;
    return n;
}

static fbp_status look_chunks(struct fbp_hdf5_look *l, struct fbp_hdf5_chunk **chunks)
{
    hsize_t n[3] = {1, 1, 1};

    if (H5Pget_chunk(l->plist, 3, n) != l->a.rank)
        return damaged(l, "its chunks do not fit it");
    l->a.chunk[1] = l->a.chunk[2] = 1;
    for (int i = 0; i < l->a.rank; i++)
        l->a.chunk[fbp_hdf5_axis(&l->a, i)] = n[i];
    FBP_TRY(look_filters(l));
    l->a.n_chunks = count_chunks(&l->a, MAX_CHUNKS);
    if (l->a.n_chunks == 0)
        l->a.how = FBP_HDF5_LIBRARY;
    if (l->a.how == FBP_HDF5_LIBRARY)
        return FBP_OK;
    (void)H5Pget_fill_value(l->plist, l->type, l->a.fill);
    unsigned char missing[MAX_CHUNKS];
    memset(missing, 1, sizeof missing);
    FBP_TRY(list_chunks(l, chunks, missing));
    return note_missing(l, &l->a, missing);
}

/* How many bytes the filters of a data set can make of one at most; 0: nobody knows. */
static uint64_t at_most(const struct fbp_hdf5_look *l)
{
    const int n = H5Pget_nfilters(l->plist);
    uint64_t most = 1;

    for (int i = 0; i < n; i++) {
        unsigned flags, config;
        size_t n_values = 0;
        const H5Z_filter_t id =
            H5Pget_filter2(l->plist, (unsigned)i, &flags, &n_values, NULL, 0, NULL, &config);
        if (id == FILTER_DEFLATE)
            most *= FBP_DEFLATE_AT_MOST;
        else if (id != FILTER_SHUFFLE && id != H5Z_FILTER_FLETCHER32)
            return 0;
    }
    return most;
}

/* The library takes a size at its word, makes room for it, and reads behind what it has: what it is
 * to read must be able to be there, all of it or a whole chunk. */
static fbp_status check_stored(const struct fbp_hdf5_look *l)
{
    const H5D_layout_t layout = H5Pget_layout(l->plist);
    const bool chunked = layout == H5D_CHUNKED;
    const uint64_t stored = H5Dget_storage_size(l->data), most = at_most(l);
    uint64_t bytes = H5Tget_size(l->type);
    hsize_t n[H5S_MAX_RANK];

    if (layout == H5D_VIRTUAL || H5Pget_external_count(l->plist) > 0)
        return FBP_OK; /* in other files */
    if (stored == 0)
        return damaged(l, "its samples were never written");
    if (stored > bytes_of_file(l->a.file))
        return damaged(l, "its samples reach behind the end of the file");
    if ((chunked ? H5Pget_chunk(l->plist, H5S_MAX_RANK, n)
                 : H5Sget_simple_extent_dims(l->space, n, NULL)) != l->a.rank)
        return damaged(l, "its chunks do not fit it");
    for (int i = 0; i < l->a.rank; i++)
        if (__builtin_mul_overflow(bytes, n[i], &bytes))
            return damaged(l, "its size says far more than is stored");
    if (most > 0 && bytes / most > stored)
        return damaged(l, "its size says far more than is stored");
    return FBP_OK;
}

/* A multiple of `step` near `wanted`, at least step, at most n. */
static size_t some(size_t wanted, size_t step, size_t n)
{
    const size_t m = wanted > step ? wanted / step * step : step;

    return m < n ? m : n;
}

/* Blocks that the library is to read: whole rows, rows and slices as its chunks have or more. */
static fbp_status look_library(struct fbp_hdf5_look *l)
{
    struct fbp_hdf5_array *a = &l->a;
    const size_t row = a->info.n[0] * fbp_type_size(a->info.type);
    const size_t depth = a->chunk[2] ? a->chunk[2] : 1, height = a->chunk[1] ? a->chunk[1] : 1;
    const size_t across = a->chunk[0] ? (a->info.n[0] - 1) / a->chunk[0] + 1 : 1;
    const size_t in_bytes = LIBRARY_BYTES / row, in_chunks = MAX_CHUNKS / across * height * depth;
    const size_t rows = in_bytes < in_chunks ? in_bytes : in_chunks; /* in a block */

    FBP_TRY(check_stored(l));
    FBP_TRY((H5Pget_layout(l->plist) == H5D_VIRTUAL ? note_virtual : note_unlisted)(l));
    a->chunk[0] = a->info.n[0];
    a->chunk[1] = some(rows / depth, height, a->info.n[1]);
    a->chunk[2] = some(a->chunk[1] == a->info.n[1] ? rows / a->chunk[1] : 1, depth, a->n_slices);
    a->shuffle = a->deflate = false;
    a->info.big_endian = fbp_is_foreign(false);
    a->n_chunks = count_chunks(a, MAX_BLOCKS);
    if (a->n_chunks == 0)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: is larger than this program reads through the library: rewrite it by "
                        "h5repack",
                        l->wanted->path);
    return FBP_OK;
}

/* All of it will be held in memory: more than can be stored in the file is not asked for. */
static fbp_status look_columns(struct fbp_hdf5_look *l)
{
    uint64_t bytes = 0;

    FBP_TRY(fbp_array_bytes(l->wanted->path, &l->a.info, &bytes));
    if (bytes / FBP_DEFLATE_AT_MOST > H5Dget_storage_size(l->data))
        return damaged(l, "its size says far more than is stored");
    return FBP_OK;
}

fbp_status fbp_hdf5_look_layout(struct fbp_hdf5_look *l, struct fbp_hdf5_chunk **chunks)
{
    const H5D_layout_t layout = H5Pget_layout(l->plist);

    FBP_TRY(take_file(l));
    if (l->a.rank == 4 && layout != H5D_VIRTUAL &&
        (l->a.how != FBP_HDF5_CONTIGUOUS || layout != H5D_CONTIGUOUS))
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: a series of four dimensions is read if it is stored in one run of "
                        "plain numbers: rewrite it (h5repack -l CONTI), or store it as "
                        "[z][y][x], one volume behind the other",
                        l->wanted->path);
    if (l->a.how == FBP_HDF5_COLUMNS) {
        FBP_TRY(look_columns(l));
        return look_library(l);
    }
    if (l->a.how == FBP_HDF5_CONTIGUOUS && layout == H5D_CONTIGUOUS)
        return look_contiguous(l);
    if (l->a.how == FBP_HDF5_CONTIGUOUS && layout == H5D_CHUNKED && !has_user_block(l)) {
        l->a.how = FBP_HDF5_CHUNKED;
        FBP_TRY(look_chunks(l, chunks));
    } else {
        l->a.how = FBP_HDF5_LIBRARY;
    }
    return l->a.how == FBP_HDF5_LIBRARY ? look_library(l) : FBP_OK;
}
