/* What the library says about a data set: size, type, and where its samples lie. */
#include "array/file/bytes.h"
#include "array/file/frames.h"
#include "array/format/hdf5/hdf5_look.h"

#include "base/base.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char SELECT[] = "?image_key=", SINOGRAM[] = "?sinogram";

/* The array that a file is about, where no name is given. */
static fbp_status choose(struct fbp_hdf5_look *l)
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
static fbp_status parse_query(struct fbp_hdf5_look *l, const char *query)
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
static fbp_status parse_member(struct fbp_hdf5_look *l)
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
static fbp_status cannot_open(struct fbp_hdf5_look *l)
{
    char why[200], link[260], text[600];
    H5O_info_t about;

    fbp_hdf5_reason(why, sizeof why);
    if (H5Lexists(l->file, l->member, fbp_hdf5_access()) <= 0 ||
        (H5Oget_info_by_name2(l->file, l->member, &about, H5O_INFO_BASIC, fbp_hdf5_access()) >= 0 &&
         about.type != H5O_TYPE_DATASET))
        return fbp_hdf5_missing(l->wanted->file, l->member, &l->list);
    fbp_hdf5_link(l->file, l->member, link, sizeof link);
    fbp_hdf5_unread(l->member, link, why, text, sizeof text);
    return fbp_fail(FBP_ERR_INVALID, "%s: %s", l->wanted->file, text);
}

static fbp_status open_all(struct fbp_hdf5_look *l)
{
    char why[200];

    FBP_TRY(fbp_hdf5_open(l->wanted->file, l->wanted->path, &l->file));
    FBP_TRY(fbp_hdf5_list(l->file, l->wanted->file, &l->list));
    FBP_TRY(parse_member(l));
    l->data = H5Dopen2(l->file, l->member, fbp_hdf5_access());
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

/* [frame][z][y][x]: volumes one behind the other. */
static fbp_status take_series(struct fbp_hdf5_look *l, const hsize_t n[4])
{
    struct fbp_hdf5_array *a = &l->a;

    for (int i = 0; i < 3; i++)
        a->info.n[i] = n[3 - i];
    FBP_TRY(fbp_frames_take(l->wanted->path, &a->info, n[0]));
    a->n_slices = a->info.n[2];
    return FBP_OK;
}

static fbp_status take_size(struct fbp_hdf5_look *l)
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
static fbp_status take_number(struct fbp_hdf5_look *l, hid_t type)
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
static fbp_status take_type(struct fbp_hdf5_look *l)
{
    if (H5Tget_class(l->type) != H5T_ENUM)
        return take_number(l, l->type);
    const hid_t super = H5Tget_super(l->type);
    const fbp_status st = take_number(l, super);
    H5Tclose(super);
    return st;
}

/* Attributes of our own sink; what other programs write starts at the top row. */
static void take_attributes(struct fbp_hdf5_look *l)
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
static fbp_status take_scale(struct fbp_hdf5_look *l)
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
static fbp_status find_key(struct fbp_hdf5_look *l, const char **out)
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

static fbp_status take_selection(struct fbp_hdf5_look *l)
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

static fbp_status describe(struct fbp_hdf5_look *l, struct fbp_hdf5_chunk **chunks,
                           struct fbp_blob *reply)
{
    uint64_t bytes = 0;

    FBP_TRY(open_all(l));
    FBP_TRY(fbp_hdf5_check_virtual(l->data, l->wanted->path, &l->files, l->missing));
    FBP_TRY(take_size(l));
    FBP_TRY(take_type(l));
    FBP_TRY(fbp_array_bytes(l->wanted->path, &l->a.info, &bytes));
    take_attributes(l);
    FBP_TRY(take_scale(l));
    FBP_TRY(take_selection(l));
    FBP_TRY(fbp_hdf5_look_layout(l, chunks));
    l->a.file_bytes = l->files.n;
    FBP_TRY(fbp_blob_put(reply, &l->a, sizeof l->a));
    if (l->files.n)
        FBP_TRY(fbp_blob_put(reply, l->files.bytes, l->files.n));
    if (l->map)
        FBP_TRY(fbp_blob_put(reply, l->map, l->a.info.n[2] * sizeof *l->map));
    return *chunks ? fbp_blob_put(reply, *chunks, l->a.n_chunks * sizeof **chunks) : FBP_OK;
}

/* Of handles that may not be open. */
static void close_all(struct fbp_hdf5_look *l)
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
    struct fbp_hdf5_look l = {.wanted = arg};
    struct fbp_hdf5_chunk *chunks = NULL;

    const fbp_status st = describe(&l, &chunks, reply);
    close_all(&l);
    free(chunks);
    return st;
}
