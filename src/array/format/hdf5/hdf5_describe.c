/* What the library says about a data set: size, type, and where its samples lie. */
#include "array/file/bytes.h"
#include "array/file/frames.h"
#include "array/file/inflate.h"
#include "array/format/hdf5/hdf5.h"
#include "array/format/hdf5/hdf5_lib.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { FILTER_SHUFFLE = H5Z_FILTER_SHUFFLE, FILTER_DEFLATE = H5Z_FILTER_DEFLATE };

static const size_t MAX_CHUNKS = 8192;       /* that are asked for: the library takes n² steps */
static const size_t MAX_BLOCKS = 1 << 24;    /* of the library */
static const size_t LIBRARY_BYTES = 8 << 20; /* that the library reads at once, about; it needs
                                              * kilobytes for a chunk, too */
static const char SELECT[] = "?image_key=", SINOGRAM[] = "?sinogram";

/* All that is open while a data set is looked at. */
struct look {
    const struct fbp_hdf5_wanted *wanted;
    struct fbp_hdf5_list list;
    hid_t file, data, type, space, plist;
    char member[512];
    long key; /* of image_key; -1: all slices */
    struct fbp_hdf5_array a;
    uint64_t *map;
    struct fbp_blob files; /* of virtual sources */
};

/* The array that a file is about, where no name is given. */
static fbp_status choose(struct look *l)
{
    static const char *const usual[] = {"/exchange/data", "/volume"};
    const struct fbp_hdf5_entry *found = NULL, *e = l->list.entries;

    for (size_t i = 0; i < 2 && !found; i++)
        found = fbp_hdf5_find(&l->list, usual[i]);
    /* Three dimensions before two, the file's own before those that links lead to. */
    for (int turn = 0; turn < 4 && !found; turn++) {
        size_t n = 0;
        for (size_t i = 0; i < l->list.n; i++)
            if (e[i].numeric && e[i].rank == 3 - turn / 2 && e[i].linked == turn % 2 &&
                !e[i].again && n++ == 0)
                found = &e[i];
        if (n > 1)
            return fbp_hdf5_missing(l->wanted->file, NULL, &l->list);
    }
    if (!found)
        return fbp_hdf5_missing(l->wanted->file, NULL, &l->list);
    snprintf(l->member, sizeof l->member, "%s", found->path);
    return FBP_OK;
}

/* What follows the '?' of a name, if it is one of ours. */
static fbp_status parse_query(struct look *l, const char *query)
{
    char *end = NULL;

    if (strcmp(query, SINOGRAM) == 0) {
        l->a.sinogram = true;
        return FBP_OK;
    }
    if (strncmp(query, SELECT, sizeof SELECT - 1) == 0)
        l->key = strtol(query + sizeof SELECT - 1, &end, 10);
    if (!end || end == query + sizeof SELECT - 1 || *end || l->key < 0)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: behind the '?' expected image_key=0 (projections), 1 (flats) or 2 "
                        "(darks), or sinogram",
                        l->wanted->path);
    return FBP_OK;
}

/* "/entry/data?image_key=0" into name and key. */
static fbp_status parse_member(struct look *l)
{
    const char *member = l->wanted->member, *query = member ? strchr(member, '?') : NULL;

    l->key = -1;
    if (!member)
        return choose(l);
    const size_t n = query ? (size_t)(query - member) : strlen(member);
    if (n >= sizeof l->member)
        return fbp_fail(FBP_ERR_INVALID, "%.100s: the name of the data set is too long",
                        l->wanted->path);
    memcpy(l->member, member, n);
    l->member[n] = '\0';
    return query ? parse_query(l, query) : FBP_OK;
}

/* It may be a group, or not be there at all. */
static fbp_status cannot_open(struct look *l)
{
    char why[200], link[260], text[600];
    H5O_info_t about;

    fbp_hdf5_reason(why, sizeof why);
    if (H5Lexists(l->file, l->member, H5P_DEFAULT) <= 0 ||
        (H5Oget_info_by_name2(l->file, l->member, &about, H5O_INFO_BASIC, H5P_DEFAULT) >= 0 &&
         about.type != H5O_TYPE_DATASET))
        return fbp_hdf5_missing(l->wanted->file, l->member, &l->list);
    fbp_hdf5_link(l->file, l->member, link, sizeof link);
    fbp_hdf5_unread(l->member, link, why, text, sizeof text);
    return fbp_fail(FBP_ERR_INVALID, "%s: %s", l->wanted->file, text);
}

static fbp_status open_all(struct look *l)
{
    char why[200];

    FBP_TRY(fbp_hdf5_open(l->wanted->file, l->wanted->path, &l->file));
    FBP_TRY(fbp_hdf5_list(l->file, l->wanted->file, &l->list));
    FBP_TRY(parse_member(l));
    l->data = H5Dopen2(l->file, l->member, H5P_DEFAULT);
    if (l->data < 0)
        return cannot_open(l);
    l->type = H5Dget_type(l->data);
    l->space = H5Dget_space(l->data);
    l->plist = H5Dget_create_plist(l->data);
    if (l->type < 0 || l->space < 0 || l->plist < 0)
        return fbp_fail(FBP_ERR_INVALID, "%s: its header cannot be read%s: the file is damaged",
                        l->wanted->path, fbp_hdf5_reason(why, sizeof why));
    return FBP_OK;
}

int fbp_hdf5_axis(const struct fbp_hdf5_array *a, int i)
{
    return a->sinogram ? 2 - 2 * i : a->rank - 1 - i;
}

/* [frame][z][y][x]: volumes one behind the other. */
static fbp_status take_series(struct look *l, const hsize_t n[4])
{
    struct fbp_hdf5_array *a = &l->a;

    for (int i = 0; i < 3; i++)
        a->info.n[i] = n[3 - i];
    FBP_TRY(fbp_frames_take(l->wanted->path, &a->info, n[0]));
    a->n_slices = a->info.n[2];
    return FBP_OK;
}

static fbp_status take_size(struct look *l)
{
    struct fbp_hdf5_array *a = &l->a;
    hsize_t n[H5S_MAX_RANK];

    a->rank = H5Sget_simple_extent_dims(l->space, n, NULL);
    if (a->rank == 4 && !a->sinogram && l->key < 0)
        return take_series(l, n);
    if (a->rank != 2 && a->rank != 3)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: has %d dimension%s: two or three [view][row][column] are needed: name "
                        "another data set or reshape it",
                        l->wanted->path, a->rank, a->rank == 1 ? "" : "s");
    if (a->rank != (a->sinogram ? 2 : l->key >= 0 ? 3 : a->rank))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: has %d dimensions: a sinogram has two, images with a key three",
                        l->wanted->path, a->rank);
    a->info.n[1] = a->info.n[2] = 1;
    for (int i = 0; i < a->rank; i++)
        a->info.n[fbp_hdf5_axis(a, i)] = n[i];
    a->n_slices = a->info.n[2];
    return FBP_OK;
}

/* The type itself where this program has it, else what the library is to convert it to. */
static fbp_status take_number(struct look *l, hid_t type)
{
    static const enum fbp_type ints[2][5] = {{0, FBP_U8, FBP_U16, 0, FBP_U32},
                                             {0, FBP_I8, FBP_I16, 0, FBP_I32}};
    struct fbp_hdf5_array *a = &l->a;
    const H5T_class_t class = H5Tget_class(type);
    const size_t size = H5Tget_size(type);
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
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: its elements are not numbers: integers or floats are needed",
                        l->wanted->path);
    }
    if (a->info.type == FBP_TYPE_NONE)
        a->info.type = FBP_F64;
    a->info.big_endian = plain && H5Tget_order(type) == H5T_ORDER_BE;
    a->how = plain ? FBP_HDF5_CONTIGUOUS : FBP_HDF5_LIBRARY; /* so far */
    return FBP_OK;
}

/* An enumeration, as h5py writes truth values, is of integers. */
static fbp_status take_type(struct look *l)
{
    if (H5Tget_class(l->type) != H5T_ENUM)
        return take_number(l, l->type);
    const hid_t super = H5Tget_super(l->type);
    const fbp_status st = take_number(l, super);
    H5Tclose(super);
    return st;
}

/* Attributes of our own sink; what other programs write starts at the top row. */
static void take_attributes(struct look *l)
{
    struct fbp_array_info *i = &l->a.info;
    char order[32] = "", matlab[32] = "";

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
}

/* What the numbers stand for; either attribute will do. */
static fbp_status take_scale(struct look *l)
{
    struct fbp_array_info *i = &l->a.info;
    double scale = 1, offset = 0;
    const bool scaled = fbp_hdf5_numbers_of(l->data, FBP_HDF5_SCALE, &scale, 1);

    if (!fbp_hdf5_numbers_of(l->data, FBP_HDF5_OFFSET, &offset, 1) && !scaled)
        return FBP_OK;
    if (!isfinite(scale) || scale == 0 || !isfinite(offset))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: its attributes say value = %g * number + %g, which cannot be: correct "
                        "or remove " FBP_HDF5_SCALE " and " FBP_HDF5_OFFSET,
                        l->wanted->path, scale, offset);
    if (scale < 1 || scale > 1 || offset < 0 || offset > 0) {
        i->scale = scale;
        i->offset = offset;
    }
    return FBP_OK;
}

static size_t common(const char *a, const char *b)
{
    size_t n = 0;

    while (a[n] && a[n] == b[n])
        n++;
    return n;
}

/* The image_key that goes with the data set: as long as it, the nearest in the tree. */
static fbp_status find_key(struct look *l, const char **out)
{
    const struct fbp_hdf5_entry *best = NULL;

    for (size_t i = 0; i < l->list.n; i++) {
        const struct fbp_hdf5_entry *e = &l->list.entries[i];
        const char *slash = strrchr(e->path, '/');
        if (strcmp(slash, "/image_key") != 0 || e->rank != 1 || e->n[0] != l->a.n_slices)
            continue;
        if (!best || common(e->path, l->member) > common(best->path, l->member))
            best = e;
    }
    if (!best)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: the file has no image_key of %zu entries: leave ?image_key= out",
                        l->wanted->path, l->a.n_slices);
    *out = best->path;
    return FBP_OK;
}

static fbp_status take_selection(struct look *l)
{
    const char *name = NULL;
    double *keys = NULL;
    size_t n = 0, count = 0;

    if (l->key < 0)
        return FBP_OK;
    FBP_TRY(find_key(l, &name));
    FBP_TRY(fbp_hdf5_keys(l->file, l->wanted->path, name, &l->list, &keys, &n));
    fbp_status st = fbp_calloc((void **)&l->map, n, sizeof *l->map, "selected images");
    for (size_t i = 0; st == FBP_OK && i < n; i++)
        if (keys[i] >= (double)l->key && keys[i] <= (double)l->key)
            l->map[count++] = i;
    free(keys);
    FBP_TRY(st);
    if (count == 0)
        return fbp_fail(FBP_ERR_INVALID, "%s: no image has this key in %s", l->wanted->path, name);
    l->a.selected = true;
    l->a.info.n[2] = count;
    return FBP_OK;
}

static uint64_t bytes_of_file(const char *path)
{
    struct stat s;

    return stat(path, &s) == 0 ? (uint64_t)s.st_size : 0;
}

/* The file that the data set is in, which an external link may have led to. */
static fbp_status take_file(struct look *l)
{
    const ssize_t n = H5Fget_name(l->data, l->a.file, sizeof l->a.file);

    if (n <= 0 || (size_t)n >= sizeof l->a.file)
        return fbp_fail(FBP_ERR_INVALID, "%s: the name of its file is too long", l->wanted->path);
    const ssize_t m = H5Iget_name(l->data, l->a.data_set, sizeof l->a.data_set); /* in that file */
    if (m <= 0 || (size_t)m >= sizeof l->a.data_set)
        return fbp_fail(FBP_ERR_INVALID, "%s: has no name in its file", l->wanted->path);
    return FBP_OK;
}

static bool has_user_block(struct look *l)
{
    const hid_t file = H5Iget_file_id(l->data), plist = H5Fget_create_plist(file);
    hsize_t bytes = 1;

    H5Pget_userblock(plist, &bytes);
    H5Pclose(plist);
    H5Fclose(file);
    return bytes != 0;
}

static fbp_status damaged(const struct look *l, const char *what)
{
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: %s: the file is truncated or damaged, or was not closed: copy it again",
                    l->wanted->path, what);
}

/* Samples in one run; never written ones lie nowhere. */
static fbp_status look_contiguous(struct look *l)
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
static fbp_status look_filters(struct look *l)
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
static fbp_status list_chunks(struct look *l, struct fbp_hdf5_chunk **out)
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
    }
    return FBP_OK;
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

static fbp_status look_chunks(struct look *l, struct fbp_hdf5_chunk **chunks)
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
    return list_chunks(l, chunks);
}

/* How many bytes the filters of a data set can make of one at most; 0: nobody knows. */
static uint64_t at_most(const struct look *l)
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
static fbp_status check_stored(const struct look *l)
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
static fbp_status look_library(struct look *l)
{
    struct fbp_hdf5_array *a = &l->a;
    const size_t row = a->info.n[0] * fbp_type_size(a->info.type);
    const size_t depth = a->chunk[2] ? a->chunk[2] : 1, height = a->chunk[1] ? a->chunk[1] : 1;
    const size_t across = a->chunk[0] ? (a->info.n[0] - 1) / a->chunk[0] + 1 : 1;
    const size_t in_bytes = LIBRARY_BYTES / row, in_chunks = MAX_CHUNKS / across * height * depth;
    const size_t rows = in_bytes < in_chunks ? in_bytes : in_chunks; /* in a block */

    FBP_TRY(check_stored(l));
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
static fbp_status look_columns(struct look *l)
{
    uint64_t bytes = 0;

    FBP_TRY(fbp_array_bytes(l->wanted->path, &l->a.info, &bytes));
    if (bytes / FBP_DEFLATE_AT_MOST > H5Dget_storage_size(l->data))
        return damaged(l, "its size says far more than is stored");
    return FBP_OK;
}

static fbp_status look_layout(struct look *l, struct fbp_hdf5_chunk **chunks)
{
    const H5D_layout_t layout = H5Pget_layout(l->plist);

    FBP_TRY(take_file(l));
    if (l->a.rank == 4 && (l->a.how != FBP_HDF5_CONTIGUOUS || layout != H5D_CONTIGUOUS))
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

static fbp_status describe(struct look *l, struct fbp_hdf5_chunk **chunks, struct fbp_blob *reply)
{
    uint64_t bytes = 0;

    FBP_TRY(open_all(l));
    FBP_TRY(fbp_hdf5_check_virtual(l->data, l->wanted->path, NULL, NULL, &l->files));
    FBP_TRY(take_size(l));
    FBP_TRY(take_type(l));
    FBP_TRY(fbp_array_bytes(l->wanted->path, &l->a.info, &bytes));
    take_attributes(l);
    FBP_TRY(take_scale(l));
    FBP_TRY(take_selection(l));
    FBP_TRY(look_layout(l, chunks));
    l->a.file_bytes = l->files.n;
    FBP_TRY(fbp_blob_put(reply, &l->a, sizeof l->a));
    if (l->files.n)
        FBP_TRY(fbp_blob_put(reply, l->files.bytes, l->files.n));
    if (l->map)
        FBP_TRY(fbp_blob_put(reply, l->map, l->a.info.n[2] * sizeof *l->map));
    return *chunks ? fbp_blob_put(reply, *chunks, l->a.n_chunks * sizeof **chunks) : FBP_OK;
}

/* Of handles that may not be open. */
static void close_all(struct look *l)
{
    if (l->plist > 0)
        H5Pclose(l->plist);
    if (l->space > 0)
        H5Sclose(l->space);
    if (l->type > 0)
        H5Tclose(l->type);
    if (l->data > 0)
        H5Dclose(l->data);
    if (l->file > 0)
        H5Fclose(l->file);
    free(l->list.entries);
    free(l->map);
}

fbp_status fbp_hdf5_describe(void *arg, struct fbp_blob *reply)
{
    struct look l = {.wanted = arg};
    struct fbp_hdf5_chunk *chunks = NULL;

    const fbp_status st = describe(&l, &chunks, reply);
    close_all(&l);
    free(chunks);
    return st;
}

static hid_t native(enum fbp_type type)
{
    const hid_t table[] = {
        [FBP_U8] = H5T_NATIVE_UINT8,  [FBP_I8] = H5T_NATIVE_INT8,    [FBP_U16] = H5T_NATIVE_UINT16,
        [FBP_I16] = H5T_NATIVE_INT16, [FBP_U32] = H5T_NATIVE_UINT32, [FBP_I32] = H5T_NATIVE_INT32,
        [FBP_F32] = H5T_NATIVE_FLOAT, [FBP_F64] = H5T_NATIVE_DOUBLE};

    return table[type];
}

fbp_status fbp_hdf5_read_block(void *arg, struct fbp_blob *reply)
{
    const struct fbp_hdf5_block *b = arg;
    const struct fbp_hdf5_array *a = b->array;
    hsize_t first[3], n[3], room[3], zero[3] = {0};
    char why[200];
    fbp_status st = FBP_OK;
    hid_t file;

    (void)reply;
    FBP_TRY(fbp_hdf5_open(a->file, b->path, &file));
    for (int i = 0; i < a->rank; i++) {
        const int axis = fbp_hdf5_axis(a, i);
        first[i] = b->first[axis];
        n[i] = b->n[axis];
        room[i] = b->room[axis];
    }
    const hid_t data = H5Dopen2(file, a->data_set, H5P_DEFAULT), from = H5Dget_space(data);
    const hid_t to = H5Screate_simple(a->rank, room, NULL);
    FBP_TRY(fbp_hdf5_check_virtual(data, b->path, first, n, NULL));
    H5Sselect_hyperslab(from, H5S_SELECT_SET, first, NULL, n, NULL);
    H5Sselect_hyperslab(to, H5S_SELECT_SET, zero, NULL, n, NULL);
    if (H5Dread(data, native(a->info.type), to, from, H5P_DEFAULT, b->out) < 0)
        st = fbp_fail(FBP_ERR_INVALID,
                      "%s: slices from %zu on cannot be read%s: the file is damaged, copy it again",
                      b->path, b->first[2], fbp_hdf5_reason(why, sizeof why));
    H5Sclose(to);
    H5Sclose(from);
    H5Dclose(data);
    H5Fclose(file);
    return st;
}
