/* Opens an HDF5 data set as a source: fbp_hdf5_source(). The HDF5 library describes the data set
 * (size, type, positions of the samples in the file), in a child process if the program has enabled
 * child processes for readers (base/sandbox.h). Contiguous samples are then read like those of
 * other formats; hdf5_chunks.c reads chunks, and data sets that only the library can read. Arrays
 * that MATLAB stored column by column are transposed to a file in memory.
 * Used by: hdf5_chunks.c, optional.c. */
#include "array/format/hdf5.h"
#include "array/file/bytes.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILTER_SHUFFLE = H5Z_FILTER_SHUFFLE, FILTER_DEFLATE = H5Z_FILTER_DEFLATE };

/* greatest number of listed chunks, because the HDF5 library needs n² steps to list n chunks */
enum { MAX_CHUNKS = 8192 };

/* greatest number of blocks of a data set that the HDF5 library reads */
static const size_t MAX_BLOCKS = 1 << 24;
/* size of a block that the HDF5 library reads at once, unless a row of chunks is larger [bytes] */
static const size_t LIBRARY_BYTES = 8 << 20;

/* A data set while the HDF5 library describes it: names, open handles, description. */
struct data_set {
    /* path: name of the array as the caller gave it; file: its file; requested: name of the data
     * set in it, NULL: not given */
    const char *path, *file, *requested;
    struct fbp_hdf5_list list;
    hid_t id, data, type, space, plist; /* file, data set and its properties */
    char member[512];
    long key; /* selected image_key; -1: all slices */
    struct fbp_hdf5_array a;
    uint64_t *map;
    struct fbp_blob files; /* names of the source files of a virtual data set */
    /* numbers of unwritten and of all chunks in the sources of a virtual data set */
    size_t missing[2];
};

/* ---- finding the data set */

/* Split "/entry/data?image_key=0" into the data set's name and the key. If the caller gives no
 * name, choose a data set with a usual name, or the only one with three dimensions, else with
 * two. */
static fbp_status parse_member(struct data_set *l)
{
    static const char *const usual[] = {"/exchange/data", "/volume"};
    static const char select[] = "?image_key=";
    const char *query = l->requested ? strchr(l->requested, '?') : NULL;
    const struct fbp_hdf5_entry *found = NULL, *e = l->list.entries;
    char *end = NULL;

    l->key = -1;
    if (!l->requested) {
        for (size_t i = 0; i < 2 && !found; i++)
            found = fbp_hdf5_find(&l->list, usual[i]);
        /* Prefer data sets of three dimensions to those of two; at equal rank, prefer those of the
         * file itself to those behind links. */
        for (int turn = 0; turn < 4 && !found; turn++) {
            size_t n = 0;
            for (size_t i = 0; i < l->list.n; i++)
                if (e[i].numeric && e[i].rank == 3 - turn / 2 && e[i].linked == turn % 2 &&
                    !e[i].again && n++ == 0)
                    found = &e[i];
            if (n > 1)
                return fbp_hdf5_missing(l->file, NULL, &l->list);
        }
        if (!found)
            return fbp_hdf5_missing(l->file, NULL, &l->list);
        snprintf(l->member, sizeof l->member, "%s", found->path);
        return FBP_OK;
    }
    const size_t n = query ? (size_t)(query - l->requested) : strlen(l->requested);
    if (n >= sizeof l->member)
        return FBP_INVALID("%.100s: the name of the data set is too long; rename the data set",
                           l->path);
    memcpy(l->member, l->requested, n);
    l->member[n] = '\0';
    l->a.sinogram = query && strcmp(query, FBP_SINOGRAM) == 0;
    if (!query || l->a.sinogram)
        return FBP_OK;
    if (strncmp(query, select, sizeof select - 1) == 0)
        l->key = strtol(query + sizeof select - 1, &end, 10);
    if (!end || end == query + sizeof select - 1 || *end || l->key < 0)
        return FBP_INVALID("%s: after the '?', expected image_key=0 (projections), 1 (flats) or 2 "
                           "(darks), or sinogram",
                           l->path);
    return FBP_OK;
}

static fbp_status open_all(struct data_set *l)
{
    char why[200], link[260], text[600];
    H5O_info_t about;

    FBP_TRY(fbp_hdf5_open(l->file, l->path, &l->id));
    FBP_TRY(fbp_hdf5_list(l->id, l->file, &l->list));
    FBP_TRY(parse_member(l));
    l->data = H5Dopen2(l->id, l->member, fbp_hdf5_access());
    if (l->data < 0) {
        fbp_hdf5_reason(why, sizeof why);
        if (H5Lexists(l->id, l->member, fbp_hdf5_access()) <= 0 ||
            (H5Oget_info_by_name2(l->id, l->member, &about, H5O_INFO_BASIC, fbp_hdf5_access()) >=
                 0 &&
             about.type != H5O_TYPE_DATASET))
            return fbp_hdf5_missing(l->file, l->member, &l->list);
        fbp_hdf5_link(l->id, l->member, link, sizeof link);
        fbp_hdf5_unread(l->member, link, why, text, sizeof text);
        return FBP_INVALID("%s: %s", l->file, text);
    }
    l->type = H5Dget_type(l->data);
    l->space = H5Dget_space(l->data);
    l->plist = H5Dget_create_plist(l->data);
    if (l->type < 0 || l->space < 0 || l->plist < 0)
        return FBP_INVALID("%s: the header of the data set cannot be read%s; the file may be "
                           "damaged, copy it again",
                           l->path, fbp_hdf5_reason(why, sizeof why));
    return FBP_OK;
}

/* ---- size, type and attributes */

int fbp_hdf5_axis(const struct fbp_hdf5_array *a, int i)
{
    return a->sinogram ? 2 - 2 * i : a->rank - 1 - i;
}

static fbp_status take_size(struct data_set *l)
{
    struct fbp_hdf5_array *a = &l->a;
    hsize_t n[H5S_MAX_RANK];

    a->rank = H5Sget_simple_extent_dims(l->space, n, NULL);
    if (a->rank == 4 && !a->sinogram && l->key < 0) { /* axes [frame][z][y][x] */
        for (int i = 0; i < 3; i++)
            a->info.n[i] = n[3 - i];
        FBP_TRY(fbp_frames_take(l->path, &a->info, n[0]));
        a->n_slices = a->info.n[2];
        return FBP_OK;
    }
    if (a->rank != 2 && a->rank != 3)
        return FBP_INVALID("%s: has %d dimension%s, expected two or three ([view][row][column])%s; "
                           "name another data set, or reshape it",
                           l->path, a->rank, a->rank == 1 ? "" : "s",
                           a->rank == 4 ? "" : ", or four ([frame][z][y][x])");
    if (a->rank != (a->sinogram ? 2 : l->key >= 0 ? 3 : a->rank))
        return FBP_INVALID("%s: has %d dimensions, but a sinogram must have two, and images with "
                           "image_key three; name another data set",
                           l->path, a->rank);
    a->info.n[1] = a->info.n[2] = 1;
    for (int i = 0; i < a->rank; i++)
        a->info.n[fbp_hdf5_axis(a, i)] = n[i];
    a->n_slices = a->info.n[2];
    return FBP_OK;
}

/* Take the sample type of a data set; if fbp does not support it, the type to which the HDF5
 * library converts its samples. Enumerations count as integers, because h5py writes truth values as
 * such. */
static fbp_status take_type(struct data_set *l)
{
    static const enum fbp_type ints[2][5] = {{0, FBP_U8, FBP_U16, 0, FBP_U32},
                                             {0, FBP_I8, FBP_I16, 0, FBP_I32}};
    struct fbp_hdf5_array *a = &l->a;
    const bool is_enum = H5Tget_class(l->type) == H5T_ENUM;
    const hid_t type = is_enum ? H5Tget_super(l->type) : l->type;
    const H5T_class_t class = H5Tget_class(type);
    const size_t size = H5Tget_size(type);
    fbp_status st = FBP_OK;
    bool plain = true;

    if (class == H5T_INTEGER) {
        const int is_signed = H5Tget_sign(type) == H5T_SGN_2;
        a->info.type = size <= 4 ? ints[is_signed][size] : FBP_TYPE_NONE;
        plain = a->info.type != FBP_TYPE_NONE && H5Tget_precision(type) == 8 * size;
    } else if (class == H5T_FLOAT) {
        const bool ieee32 =
            H5Tequal(type, H5T_IEEE_F32LE) > 0 || H5Tequal(type, H5T_IEEE_F32BE) > 0;
        const bool ieee64 =
            H5Tequal(type, H5T_IEEE_F64LE) > 0 || H5Tequal(type, H5T_IEEE_F64BE) > 0;
        a->info.type = ieee64 ? FBP_F64 : FBP_F32;
        plain = ieee32 || ieee64;
        if (!plain && size > 4)
            a->info.type = FBP_F64;
    } else {
        st = FBP_UNSUPPORTED("%s: its elements are neither integers nor floats; name a data set of "
                             "integers or floats",
                             l->path);
    }
    if (a->info.type == FBP_TYPE_NONE)
        a->info.type = FBP_F64;
    a->info.big_endian = plain && H5Tget_order(type) == H5T_ORDER_BE;
    a->how = plain ? FBP_HDF5_CONTIGUOUS : FBP_HDF5_LIBRARY; /* take_layout() may change it */
    if (is_enum)
        H5Tclose(type);
    return st;
}

/* Take row order, unit, history, voxel size and scale from the attributes of a data set. Without
 * the attribute row_order, which fbp writes, row 0 is the top row. */
static fbp_status take_attributes(struct data_set *l)
{
    struct fbp_array_info *i = &l->a.info;
    char order[32] = "", matlab[32] = "";
    double scale = 1, offset = 0;

    i->row_order = FBP_ROWS_TOP_DOWN;
    if (fbp_hdf5_text_of(l->data, "row_order", order, sizeof order) &&
        strcmp(order, "bottom-up") == 0)
        i->row_order = FBP_ROWS_BOTTOM_UP;
    (void)fbp_hdf5_text_of(l->data, "unit", i->unit, sizeof i->unit);
    (void)fbp_hdf5_text_of(l->data, "history", i->history, sizeof i->history);
    i->has_spacing = fbp_hdf5_numbers_of(l->data, "voxel_mm", i->spacing_mm, 3) &&
                     i->spacing_mm[0] > 0 && i->spacing_mm[1] > 0 && i->spacing_mm[2] > 0;
    if (!i->has_spacing || !fbp_hdf5_numbers_of(l->data, "origin_mm", i->origin_mm, 3))
        memset(i->origin_mm, 0, sizeof i->origin_mm);
    for (int k = 0; k < 3 && !i->has_spacing; k++)
        i->spacing_mm[k] = 1;
    if (fbp_hdf5_text_of(l->data, "MATLAB_class", matlab, sizeof matlab))
        l->a.how = FBP_HDF5_COLUMNS;

    const bool scaled = fbp_hdf5_numbers_of(l->data, FBP_HDF5_SCALE, &scale, 1);
    if (!fbp_hdf5_numbers_of(l->data, FBP_HDF5_OFFSET, &offset, 1) && !scaled)
        return FBP_OK;
    if (!isfinite(scale) || scale == 0 || !isfinite(offset))
        return FBP_INVALID("%s: its attributes give value = %g * number + %g, which is invalid; "
                           "correct or remove " FBP_HDF5_SCALE " and " FBP_HDF5_OFFSET,
                           l->path, scale, offset);
    if (scale < 1 || scale > 1 || offset < 0 || offset > 0) {
        i->scale = scale;
        i->offset = offset;
    }
    return FBP_OK;
}

/* Select the slices with the requested image_key. If several data sets "image_key" have one entry
 * per slice, the nearest one is used (fbp_hdf5_nearest()). */
static fbp_status take_selection(struct data_set *l)
{
    double *keys = NULL;
    size_t n = 0, count = 0;

    if (l->key < 0)
        return FBP_OK;
    const struct fbp_hdf5_entry *best =
        fbp_hdf5_nearest(&l->list, "image_key", l->member, l->a.n_slices);
    if (!best)
        return FBP_INVALID("%s: the file has no image_key of %zu entries; omit ?image_key=",
                           l->path, l->a.n_slices);
    FBP_TRY(fbp_hdf5_keys(l->id, l->path, best->path, &l->list, &keys, &n));
    fbp_status st = fbp_calloc((void **)&l->map, n, sizeof *l->map, "selected images");
    for (size_t i = 0; st == FBP_OK && i < n; i++)
        if (keys[i] >= (double)l->key && keys[i] <= (double)l->key)
            l->map[count++] = i;
    free(keys);
    FBP_TRY(st);
    if (count == 0)
        return FBP_INVALID(
            "%s: no image has this key in %s; use 0 (projections), 1 (flats) or 2 (darks)", l->path,
            best->path);
    l->a.selected = true;
    l->a.info.n[2] = count;
    return FBP_OK;
}

/* ---- positions of the samples in the file, and whether fbp or the HDF5 library reads them */

size_t fbp_hdf5_grid(const struct fbp_hdf5_array *a, size_t grid[3])
{
    size_t all = 1;

    for (int i = 0; i < 3; i++) {
        const size_t n = i == 2 ? a->n_slices : a->info.n[i];
        grid[i] = a->chunk[i] ? n / a->chunk[i] + (n % a->chunk[i] != 0) : 0;
        if (__builtin_mul_overflow(all, grid[i], &all))
            all = SIZE_MAX;
    }
    return all;
}

static uint64_t bytes_of_file(const char *path)
{
    struct stat s;

    return stat(path, &s) == 0 ? (uint64_t)s.st_size : 0;
}

static fbp_status damaged(const struct data_set *l, const char *what)
{
    return FBP_INVALID("%s: %s; the file is truncated, damaged or was not closed, copy it again",
                       l->path, what);
}

/* Describe in info.missing the slices with unwritten chunks. missing: [chunk] 1: unwritten. */
static fbp_status note_missing(struct data_set *l, const struct fbp_hdf5_array *a,
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
        fbp_describe_missing(l->path, n, all, "chunks were never written", lacks, &l->a.info);
    free(lacks);
    return FBP_OK;
}

/* Read the positions of all chunks and the filters of a data set. With any filters but shuffle and
 * deflate, in this order, the HDF5 library reads the chunks, provided that it has the filters. */
static fbp_status take_chunks(struct data_set *l, struct fbp_hdf5_chunk **chunks)
{
    const int n_filters = H5Pget_nfilters(l->plist);
    const uint64_t end = bytes_of_file(l->a.file);
    hsize_t n[3] = {1, 1, 1}, at[H5S_MAX_RANK] = {0}, n_written = 0;
    unsigned char missing[MAX_CHUNKS];
    size_t grid[3];
    char name[80];

    if (H5Pget_chunk(l->plist, 3, n) != l->a.rank)
        return damaged(l, "its chunks have another number of dimensions than the data set");
    l->a.chunk[1] = l->a.chunk[2] = 1;
    for (int i = 0; i < l->a.rank; i++)
        l->a.chunk[fbp_hdf5_axis(&l->a, i)] = n[i];
    for (int i = 0; i < n_filters; i++) {
        unsigned flags = 0, config = 0;
        size_t n_values = 0;
        const H5Z_filter_t id = H5Pget_filter2(l->plist, (unsigned)i, &flags, &n_values, NULL,
                                               sizeof name, name, &config);
        if (id == FILTER_SHUFFLE && i == 0) {
            l->a.shuffle = true;
        } else if (id == FILTER_DEFLATE && i == n_filters - 1) {
            l->a.deflate = true;
        } else {
            l->a.how = FBP_HDF5_LIBRARY;
            if (H5Zfilter_avail(id) <= 0)
                return FBP_UNSUPPORTED(
                    "%s: is compressed with HDF5 filter %d (%.40s), which is not installed; "
                    "install it and set HDF5_PLUGIN_PATH, or rewrite the file by h5repack -f "
                    "GZIP=1 on a machine that has the filter",
                    l->path, (int)id, name);
        }
    }
    l->a.n_chunks = fbp_hdf5_grid(&l->a, grid);
    if (l->a.n_chunks == 0 || l->a.n_chunks > MAX_CHUNKS)
        l->a.how = FBP_HDF5_LIBRARY;
    if (l->a.how == FBP_HDF5_LIBRARY)
        return FBP_OK;
    (void)H5Pget_fill_value(l->plist, l->type, l->a.fill);

    /* Fill in the table of chunks, in the order [slice][row][column]. */
    memset(missing, 1, sizeof missing);
    FBP_TRY(fbp_calloc((void **)chunks, l->a.n_chunks, sizeof **chunks, "a table of chunks"));
    if (H5Dget_num_chunks(l->data, l->space, &n_written) < 0 || n_written == 0 ||
        n_written > l->a.n_chunks)
        return damaged(l, n_written == 0
                              ? "its samples were never written"
                              : "the table of its chunks cannot be read, or has too many entries");
    for (hsize_t i = 0; i < n_written; i++) {
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
        (*chunks)[k] = (struct fbp_hdf5_chunk){where, (uint32_t)bytes, mask};
        missing[k] = 0;
    }
    return note_missing(l, &l->a, missing);
}

/* Describe in info.missing the chunks that were never written, if the HDF5 library reads the data
 * set. Finding chunk n takes the library n steps; therefore slices are named only if all missing
 * chunks are the last ones, as after a stopped measurement. */
static fbp_status note_unlisted(struct data_set *l)
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
        fbp_describe_missing(l->path, missing, all, "chunks were never written", NULL, &l->a.info);
        return FBP_OK;
    }
    FBP_TRY(fbp_calloc((void **)&table, all, 1, "a table of chunks"));
    memset(table + k + 1, 1, missing);
    const fbp_status st = note_missing(l, &a, table);
    free(table);
    return st;
}

/* Describe in info.missing the slices of a virtual data set that have no source, or chunks of its
 * sources that were never written. */
static fbp_status note_virtual(struct data_set *l)
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
        fbp_describe_missing(l->path, n, a->info.n[2],
                             "images of the virtual data set have no source", lacks, &l->a.info);
    else if (l->missing[0] > 0)
        fbp_describe_missing(l->path, l->missing[0], l->missing[1],
                             "chunks of its sources were never written", NULL, &l->a.info);
fail:
    free(covered);
    free(lacks);
    return st;
}

/* Check that the file can contain all samples of a data set, because the HDF5 library trusts a
 * damaged file: it allocates the stated size, and reads beyond the end of its buffers. */
static fbp_status check_stored(const struct data_set *l)
{
    const H5D_layout_t layout = H5Pget_layout(l->plist);
    const uint64_t stored = H5Dget_storage_size(l->data);
    const int n_filters = H5Pget_nfilters(l->plist);
    /* greatest number of bytes that one stored byte can decompress to; 0: unknown */
    uint64_t bytes = H5Tget_size(l->type), most = 1;
    hsize_t n[H5S_MAX_RANK];

    if (layout == H5D_VIRTUAL || H5Pget_external_count(l->plist) > 0)
        return FBP_OK; /* the samples are in other files */
    if (stored == 0)
        return damaged(l, "its samples were never written");
    if (stored > bytes_of_file(l->a.file))
        return damaged(l, "its samples extend beyond the end of the file");
    if ((layout == H5D_CHUNKED ? H5Pget_chunk(l->plist, H5S_MAX_RANK, n)
                               : H5Sget_simple_extent_dims(l->space, n, NULL)) != l->a.rank)
        return damaged(l, "its chunks have another number of dimensions than the data set");
    for (int i = 0; i < l->a.rank; i++)
        if (__builtin_mul_overflow(bytes, n[i], &bytes))
            return damaged(l, "its size is far larger than its stored samples");
    for (int i = 0; i < n_filters; i++) {
        unsigned flags, config;
        size_t n_values = 0;
        const H5Z_filter_t id =
            H5Pget_filter2(l->plist, (unsigned)i, &flags, &n_values, NULL, 0, NULL, &config);
        if (id == FILTER_DEFLATE)
            most *= FBP_DEFLATE_AT_MOST;
        else if (id != FILTER_SHUFFLE && id != H5Z_FILTER_FLETCHER32)
            most = 0;
    }
    if (most > 0 && bytes / most > stored)
        return damaged(l, "its size is far larger than its stored samples");
    return FBP_OK;
}

/* Greatest multiple of `step` up to n_rows, but at least `step`, and at most n. */
static size_t some(size_t n_rows, size_t step, size_t n)
{
    const size_t m = n_rows > step ? n_rows / step * step : step;

    return m < n ? m : n;
}

/* Choose the blocks of samples that the HDF5 library reads at once: whole rows, and at least as
 * many rows and slices as a chunk has. */
static fbp_status take_library(struct data_set *l)
{
    struct fbp_hdf5_array *a = &l->a;
    const size_t row = a->info.n[0] * fbp_type_size(a->info.type);
    const size_t depth = a->chunk[2] ? a->chunk[2] : 1, height = a->chunk[1] ? a->chunk[1] : 1;
    const size_t across = a->chunk[0] ? (a->info.n[0] - 1) / a->chunk[0] + 1 : 1;
    const size_t in_bytes = LIBRARY_BYTES / row, in_chunks = MAX_CHUNKS / across * height * depth;
    /* greatest number of rows in a block */
    const size_t rows = in_bytes < in_chunks ? in_bytes : in_chunks;
    size_t grid[3];

    FBP_TRY(check_stored(l));
    FBP_TRY((H5Pget_layout(l->plist) == H5D_VIRTUAL ? note_virtual : note_unlisted)(l));
    a->chunk[0] = a->info.n[0];
    a->chunk[1] = some(rows / depth, height, a->info.n[1]);
    a->chunk[2] = some(a->chunk[1] == a->info.n[1] ? rows / a->chunk[1] : 1, depth, a->n_slices);
    a->shuffle = a->deflate = false;
    a->info.big_endian = fbp_is_foreign(false);
    a->n_chunks = fbp_hdf5_grid(a, grid);
    if (a->n_chunks == 0 || a->n_chunks > MAX_BLOCKS)
        return FBP_UNSUPPORTED(
            "%s: is too large to be read through the HDF5 library; rewrite it contiguously "
            "(h5repack -l CONTI), as integers of 8 to 32 bits or as float32 or float64",
            l->path);
    return FBP_OK;
}

/* Find how the samples of a data set are stored, and whether fbp or the HDF5 library reads them.
 * bytes: size of all its samples. */
static fbp_status take_layout(struct data_set *l, uint64_t bytes, struct fbp_hdf5_chunk **chunks)
{
    const H5D_layout_t layout = H5Pget_layout(l->plist);
    struct fbp_hdf5_array *a = &l->a;

    /* The file that contains the data set: an external link may lead to another file. */
    const ssize_t n = H5Fget_name(l->data, a->file, sizeof a->file);
    if (n <= 0 || (size_t)n >= sizeof a->file)
        return FBP_INVALID("%s: the path of the file is too long, or unknown to the HDF5 library; "
                           "use a shorter one",
                           l->path);
    const ssize_t m = H5Iget_name(l->data, a->data_set, sizeof a->data_set);
    if (m <= 0 || (size_t)m >= sizeof a->data_set)
        return FBP_INVALID("%s: the data set has no path within its file, or one longer than %zu "
                           "bytes; rename the data set",
                           l->path, sizeof a->data_set - 1);
    if (a->rank == 4 && layout != H5D_VIRTUAL &&
        (a->how != FBP_HDF5_CONTIGUOUS || layout != H5D_CONTIGUOUS))
        return FBP_UNSUPPORTED(
            "%s: a data set of four dimensions must be stored contiguously and uncompressed, as "
            "integers of 8 to 32 bits or as float32 or float64; rewrite it (h5repack -l CONTI), or "
            "store the volumes one after the other as [z][y][x]",
            l->path);
    if (a->how == FBP_HDF5_COLUMNS) {
        /* The array will be in memory: check that the stored bytes can decompress to its size. */
        if (bytes / FBP_DEFLATE_AT_MOST > H5Dget_storage_size(l->data))
            return damaged(l, "its size is far larger than its stored samples");
        return take_library(l);
    }
    if (a->how == FBP_HDF5_CONTIGUOUS && layout == H5D_CONTIGUOUS) {
        const haddr_t at = H5Dget_offset(l->data);
        const uint64_t stored = H5Dget_storage_size(l->data);
        if (H5Pget_external_count(l->plist) > 0)
            return FBP_UNSUPPORTED("%s: its samples are stored in external raw files; name these "
                                   "files with \"raw\" in the scan file",
                                   l->path);
        if (at == HADDR_UNDEF || stored == 0)
            return damaged(l, "its samples were never written");
        if (stored / fbp_type_size(a->info.type) / a->info.n[0] / a->info.n[1] < a->n_slices)
            return damaged(l, "its storage is smaller than its size requires");
        if (at > bytes_of_file(a->file))
            return damaged(l, "its samples lie beyond the end of the file");
        a->offset = at;
        return FBP_OK;
    }
    if (a->how == FBP_HDF5_CONTIGUOUS && layout == H5D_CHUNKED) {
        const hid_t file = H5Iget_file_id(l->data), plist = H5Fget_create_plist(file);
        hsize_t user_block = 1;
        H5Pget_userblock(plist, &user_block);
        H5Pclose(plist);
        H5Fclose(file);
        a->how = user_block == 0 ? FBP_HDF5_CHUNKED : FBP_HDF5_LIBRARY;
        if (user_block == 0)
            FBP_TRY(take_chunks(l, chunks));
    } else {
        a->how = FBP_HDF5_LIBRARY;
    }
    return a->how == FBP_HDF5_LIBRARY ? take_library(l) : FBP_OK;
}

/* Describe the data set of a source; called by fbp_hdf5_contain(). reply: struct fbp_hdf5_array,
 * names of source files, list of the selected slices, table of chunks. */
static fbp_status describe(void *arg, struct fbp_blob *reply)
{
    const fbp_source *src = arg;
    struct data_set l = {.path = src->path, .file = src->file, .requested = src->member};
    struct fbp_hdf5_chunk *chunks = NULL;
    uint64_t bytes = 0;
    fbp_status st;

    FBP_TRY_GOTO(open_all(&l));
    FBP_TRY_GOTO(fbp_hdf5_check_virtual(l.data, l.path, &l.files, l.missing));
    FBP_TRY_GOTO(take_size(&l));
    FBP_TRY_GOTO(take_type(&l));
    FBP_TRY_GOTO(fbp_array_bytes(l.path, &l.a.info, &bytes));
    FBP_TRY_GOTO(take_attributes(&l));
    FBP_TRY_GOTO(take_selection(&l));
    FBP_TRY_GOTO(fbp_array_bytes(l.path, &l.a.info, &bytes)); /* size of the selected slices */
    FBP_TRY_GOTO(take_layout(&l, bytes, &chunks));
    l.a.file_bytes = l.files.n;
    FBP_TRY_GOTO(fbp_blob_put(reply, &l.a, sizeof l.a));
    if (l.files.n)
        FBP_TRY_GOTO(fbp_blob_put(reply, l.files.bytes, l.files.n));
    if (l.map)
        FBP_TRY_GOTO(fbp_blob_put(reply, l.map, l.a.info.n[2] * sizeof *l.map));
    if (chunks)
        st = fbp_blob_put(reply, chunks, l.a.n_chunks * sizeof *chunks);
fail:
    if (l.plist > 0)
        H5Pclose(l.plist);
    if (l.space > 0)
        H5Sclose(l.space);
    if (l.type > 0)
        H5Tclose(l.type);
    if (l.data > 0)
        H5Dclose(l.data);
    if (l.id > 0)
        H5Fclose(l.id);
    free(l.list.entries);
    free(l.map);
    free(chunks);
    return st;
}

/* Swap the first and the last axis of an array of MATLAB, which reverses the order. */
static void turn_axes(struct fbp_array_info *i, const struct fbp_hdf5_array *a)
{
    const int last = a->rank == 2 && !a->sinogram ? 1 : 2;
    const size_t n = i->n[0];

    i->n[0] = i->n[last];
    i->n[last] = n;
}

/* Arguments of transpose(), which reads an array of MATLAB through the HDF5 library, and writes it
 * transposed to the file fd. */
struct transposition {
    const struct fbp_hdf5_array *array;
    const char *path;
    int fd;
};

static fbp_status transpose(void *arg, struct fbp_blob *reply)
{
    const struct transposition *t = arg;
    const struct fbp_hdf5_array *a = t->array;
    const size_t size = fbp_type_size(a->info.type);
    struct fbp_hdf5_block b = {.path = t->path, .array = a};
    struct fbp_array_info turned = a->info;
    void *data = NULL;
    size_t n = 1;

    for (int i = 0; i < 3; i++) {
        b.n[i] = b.room[i] = a->info.n[i];
        n *= a->info.n[i];
    }
    FBP_TRY(fbp_alloc(&data, n * size, "an array of MATLAB"));
    b.out = data;
    fbp_status st = fbp_hdf5_read_block(&b, reply);
    turn_axes(&turned, a);
    if (st == FBP_OK)
        st = fbp_column_major_write(t->fd, t->path, data, size, turned.n);
    fbp_free(data);
    return st;
}

static fbp_status open_columns(struct fbp_source *src, const struct fbp_hdf5_array *a)
{
    struct transposition t = {a, src->path, memfd_create("fbp", MFD_CLOEXEC)};
    struct fbp_sandbox_limits limits = fbp_hdf5_limits;
    struct fbp_blob none = {0};
    uint64_t bytes = 0;
    char needs[32];

    if (t.fd < 0)
        return fbp_fail(FBP_ERR_IO,
                        "%s: a file in memory for its samples cannot be created: %s; close other "
                        "files or programs",
                        src->path, strerror(errno));
    close(src->fd);
    src->fd = t.fd;
    src->offset = 0;
    FBP_TRY(fbp_array_bytes(src->path, &a->info, &bytes));
    if (bytes > fbp_available_bytes() / 2) /* a damaged file may contain any size */
        return fbp_fail(FBP_ERR_NOMEM,
                        "%s: needs %s of memory, because MATLAB stores arrays column by column; "
                        "that is more than half of the free memory; store the array row by row, or "
                        "use a machine with more memory",
                        src->path, fbp_bytes_text(needs, sizeof needs, bytes));
    limits.memory_bytes += 2 * bytes;
    limits.leaves_copy = true;
    fbp_sandbox_note(bytes);
    FBP_TRY(fbp_hdf5_contain(src->path, &limits, transpose, &t, &none));
    turn_axes(&src->info, a);
    return FBP_OK;
}

/* Take the list of selected slices and the table of chunks from the reply of describe(). If samples
 * are contiguous in the file, but the selected slices are not, each slice is read as a chunk. */
static fbp_status take_tables(const struct fbp_source *src, struct fbp_hdf5_array *a,
                              const struct fbp_blob *reply, uint64_t **map,
                              struct fbp_hdf5_chunk **chunks)
{
    const size_t n = a->selected ? a->info.n[2] : 0;
    const uint64_t slice = (uint64_t)a->info.n[0] * a->info.n[1] * fbp_type_size(a->info.type);
    size_t at = sizeof *a + a->file_bytes;
    bool whole = true, one_run = true;

    if (n) {
        FBP_TRY(fbp_calloc((void **)map, n, sizeof **map, "selected images"));
        whole = fbp_blob_take(reply, &at, *map, n * sizeof **map);
    }
    if (a->how == FBP_HDF5_CHUNKED) {
        FBP_TRY(fbp_calloc((void **)chunks, a->n_chunks, sizeof **chunks, "a table of chunks"));
        whole = whole && fbp_blob_take(reply, &at, *chunks, a->n_chunks * sizeof **chunks);
    }
    if (!whole)
        return fbp_fail(FBP_ERR_IO,
                        "%s: the child process that inspects the file returned an incomplete "
                        "description; try again",
                        src->path);
    if (a->how != FBP_HDF5_CONTIGUOUS)
        return FBP_OK;
    if (slice * a->n_slices + a->offset > fbp_file_bytes(src->fd))
        return FBP_INVALID("%s: its samples extend beyond the end of the file; the file is "
                           "truncated, copy it again",
                           src->path);
    for (size_t i = 1; i < n; i++)
        one_run = one_run && (*map)[i] == (*map)[0] + i;
    if (one_run)
        return FBP_OK;
    if (slice > UINT32_MAX)
        return FBP_UNSUPPORTED("%s: ?image_key= does not support images of more than 4 GiB; store "
                               "the projections in a data set of their own",
                               src->path);
    FBP_TRY(fbp_calloc((void **)chunks, a->n_slices, sizeof **chunks, "a table of images"));
    for (size_t k = 0; k < a->n_slices; k++)
        (*chunks)[k] = (struct fbp_hdf5_chunk){a->offset + k * slice, (uint32_t)slice, 0};
    a->chunk[0] = a->info.n[0];
    a->chunk[1] = a->info.n[1];
    a->chunk[2] = 1;
    a->n_chunks = a->n_slices;
    a->how = FBP_HDF5_CHUNKED;
    return FBP_OK;
}

static fbp_status take(struct fbp_source *src, const struct fbp_blob *reply)
{
    struct fbp_hdf5_array a;
    struct fbp_hdf5_chunk *chunks = NULL;
    uint64_t *map = NULL, size;
    size_t at = 0;
    fbp_status st;
    int fd = -1;

    if (!fbp_blob_take(reply, &at, &a, sizeof a))
        return fbp_fail(
            FBP_ERR_IO,
            "%s: the child process that inspects the file returned no description; try again",
            src->path);
    /* Files that contain the samples: target of an external link, sources of a virtual data set. */
    const char *name = (const char *)reply->bytes + sizeof a, *end = name + a.file_bytes;
    if (a.file_bytes > reply->n - sizeof a || (a.file_bytes && end[-1] != '\0'))
        return fbp_fail(FBP_ERR_IO,
                        "%s: the child process that inspects the file returned an incomplete "
                        "description; try again",
                        src->path);
    FBP_TRY(fbp_inputs_add(&src->inputs, a.file));
    for (; name < end; name += strlen(name) + 1)
        FBP_TRY(fbp_inputs_add(&src->inputs, name));
    memcpy(a.info.format, src->info.format, sizeof a.info.format);
    src->info = a.info;
    if (a.how == FBP_HDF5_COLUMNS)
        return open_columns(src, &a);
    FBP_TRY(fbp_open_file(a.file, &fd, &size));
    close(src->fd);
    src->fd = fd;
    FBP_TRY_GOTO(take_tables(src, &a, reply, &map, &chunks));
    if (a.how != FBP_HDF5_CONTIGUOUS)
        return fbp_hdf5_chunks_open(src, &a, map, chunks);
    src->offset =
        a.offset + (map ? map[0] : 0) * a.info.n[0] * a.info.n[1] * fbp_type_size(a.info.type);
fail:
    free(map);
    free(chunks);
    return st;
}

fbp_status fbp_hdf5_source(struct fbp_source *src)
{
    struct fbp_blob reply = {0};

    fbp_status st = fbp_hdf5_contain(src->path, &fbp_hdf5_limits, describe, src, &reply);
    if (st == FBP_OK)
        st = take(src, &reply);
    free(reply.bytes);
    return st;
}
