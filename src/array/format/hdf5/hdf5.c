/* HDF5: the library says where samples are, this program reads them itself where it can. */
#include "array/format/hdf5/hdf5.h"
#include "array/file/bytes.h"
#include "array/file/column_major.h"
#include "array/format/hdf5/hdf5_lib.h"
#include "array/format/optional.h"

#include "base/base.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* All of a data set through the library, which a child transposes. */
struct transposition {
    const struct fbp_hdf5_array *array;
    const char *path;
    int fd;
};

/* MATLAB writes its own last axis first. */
static void turn_axes(struct fbp_array_info *i, const struct fbp_hdf5_array *a)
{
    const int last = a->rank == 2 && !a->sinogram ? 1 : 2;
    const size_t n = i->n[0];

    i->n[0] = i->n[last];
    i->n[last] = n;
}

static fbp_status transpose(void *arg, struct fbp_blob *reply)
{
    const struct transposition *t = arg;
    const struct fbp_hdf5_array *a = t->array;
    const size_t size = fbp_type_size(a->info.type);
    struct fbp_hdf5_block b = {.path = t->path, .array = a};
    void *data = NULL;
    size_t n = 1;

    for (int i = 0; i < 3; i++) {
        b.n[i] = b.room[i] = a->info.n[i];
        n *= a->info.n[i];
    }
    FBP_TRY(fbp_alloc(&data, n * size, "an array of MATLAB"));
    b.out = data;
    fbp_status st = fbp_hdf5_read_block(&b, reply);
    struct fbp_array_info turned = a->info;
    turn_axes(&turned, a);
    if (st == FBP_OK)
        st = fbp_column_major_write(t->fd, t->path, data, size, turned.n);
    fbp_free(data);
    return st;
}

static fbp_status open_columns(struct fbp_source *src, const struct fbp_hdf5_array *a)
{
    struct transposition t = {a, src->path, memfd_create("fbp", MFD_CLOEXEC)};
    struct fbp_child_limits limits = fbp_hdf5_limits;
    struct fbp_blob none = {0};
    uint64_t bytes = 0;
    char needs[32];

    if (t.fd < 0)
        return fbp_fail(FBP_ERR_IO, "%s: no memory to hold it", src->path);
    close(src->fd);
    src->fd = t.fd;
    src->offset = 0;
    FBP_TRY(fbp_array_bytes(src->path, &a->info, &bytes));
    if (bytes > fbp_available_bytes() / 2) /* a damaged file may say anything */
        return fbp_fail(FBP_ERR_NOMEM,
                        "%s: needs %s of memory, as MATLAB's order of axes is turned, more "
                        "than half of what is free: store it row by row, or take a larger machine",
                        src->path, fbp_bytes_text(needs, sizeof needs, bytes));
    limits.memory_bytes += 2 * bytes;
    limits.leaves_copy = true;
    fbp_contained_note(bytes);
    FBP_TRY(fbp_hdf5_contain(src->path, &limits, transpose, &t, &none));
    turn_axes(&src->info, a);
    return FBP_OK;
}

/* Plain samples in one run: at the offset, whatever slices are chosen, if those follow each other.
 */
static bool is_run(const uint64_t *map, size_t n)
{
    for (size_t i = 1; map && i < n; i++)
        if (map[i] != map[0] + i)
            return false;
    return true;
}

static fbp_status check_end(const struct fbp_source *src, const struct fbp_hdf5_array *a)
{
    const off_t end = lseek(src->fd, 0, SEEK_END);
    const uint64_t bytes =
        (uint64_t)a->info.n[0] * a->info.n[1] * a->n_slices * fbp_type_size(a->info.type);

    if (end < 0 || bytes + a->offset > (uint64_t)end)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: its samples reach behind the end of the file: it is truncated, copy "
                        "it again",
                        src->path);
    return FBP_OK;
}

/* Links may have led to another file. */
static fbp_status open_samples(struct fbp_source *src, const struct fbp_hdf5_array *a)
{
    uint64_t size;
    int fd = -1;

    FBP_TRY(fbp_open_file(a->file, &fd, &size));
    close(src->fd);
    src->fd = fd;
    return FBP_OK;
}

/* One run of samples of which single slices are wanted: a chunk each. */
static fbp_status cut_run(const struct fbp_source *src, struct fbp_hdf5_array *a,
                          struct fbp_hdf5_chunk **chunks)
{
    const uint64_t bytes = (uint64_t)a->info.n[0] * a->info.n[1] * fbp_type_size(a->info.type);

    if (bytes > UINT32_MAX)
        return fbp_fail(FBP_ERR_UNSUPPORTED, "%s: images of more than 4 GiB cannot be chosen from",
                        src->path);
    FBP_TRY(fbp_calloc((void **)chunks, a->n_slices, sizeof **chunks, "a table of images"));
    for (size_t k = 0; k < a->n_slices; k++)
        (*chunks)[k] = (struct fbp_hdf5_chunk){a->offset + k * bytes, (uint32_t)bytes, 0};
    a->chunk[0] = a->info.n[0];
    a->chunk[1] = a->info.n[1];
    a->chunk[2] = 1;
    a->n_chunks = a->n_slices;
    a->how = FBP_HDF5_CHUNKED;
    return FBP_OK;
}

/* Map and chunks out of the reply, whatever of them there is. */
static fbp_status take_tables(const struct fbp_source *src, struct fbp_hdf5_array *a,
                              const struct fbp_blob *reply, uint64_t **map,
                              struct fbp_hdf5_chunk **chunks)
{
    const size_t n = a->selected ? a->info.n[2] : 0;
    size_t at = sizeof *a + a->file_bytes;
    bool whole = true;

    if (n) {
        FBP_TRY(fbp_calloc((void **)map, n, sizeof **map, "selected images"));
        whole = fbp_blob_take(reply, &at, *map, n * sizeof **map);
    }
    if (a->how == FBP_HDF5_CHUNKED) {
        FBP_TRY(fbp_calloc((void **)chunks, a->n_chunks, sizeof **chunks, "a table of chunks"));
        whole = whole && fbp_blob_take(reply, &at, *chunks, a->n_chunks * sizeof **chunks);
    }
    if (!whole)
        return fbp_fail(FBP_ERR_IO, "%s: its description did not come back whole", src->path);
    if (a->how == FBP_HDF5_CONTIGUOUS)
        FBP_TRY(check_end(src, a));
    if (a->how == FBP_HDF5_CONTIGUOUS && !is_run(*map, n))
        return cut_run(src, a, chunks);
    return FBP_OK;
}

/* Links may have led to another file, and virtual data sets to many. */
static fbp_status note_files(struct fbp_source *src, const struct fbp_hdf5_array *a,
                             const struct fbp_blob *reply)
{
    const char *name = (const char *)reply->bytes + sizeof *a, *end = name + a->file_bytes;

    if (a->file_bytes > reply->n - sizeof *a || (a->file_bytes && end[-1] != '\0'))
        return fbp_fail(FBP_ERR_IO, "%s: its description did not come back whole", src->path);
    FBP_TRY(fbp_inputs_add(&src->inputs, a->file));
    for (; name < end; name += strlen(name) + 1)
        FBP_TRY(fbp_inputs_add(&src->inputs, name));
    return FBP_OK;
}

static fbp_status take(struct fbp_source *src, const struct fbp_blob *reply)
{
    struct fbp_hdf5_array a;
    struct fbp_hdf5_chunk *chunks = NULL;
    uint64_t *map = NULL;
    size_t at = 0;
    fbp_status st;

    if (!fbp_blob_take(reply, &at, &a, sizeof a))
        return fbp_fail(FBP_ERR_IO, "%s: no description came back", src->path);
    FBP_TRY(note_files(src, &a, reply));
    memcpy(a.info.format, src->info.format, sizeof a.info.format);
    src->info = a.info;
    if (a.how == FBP_HDF5_COLUMNS)
        return open_columns(src, &a);
    FBP_TRY(open_samples(src, &a));
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

static fbp_status open_hdf5(struct fbp_source *src)
{
    struct fbp_hdf5_wanted wanted = {src->path, src->file, src->member};
    struct fbp_blob reply = {0};

    if (src->growing)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: an HDF5 file cannot be followed while it grows: reconstruct it when "
                        "it is complete",
                        src->path);
    fbp_status st =
        fbp_hdf5_contain(src->path, &fbp_hdf5_limits, fbp_hdf5_describe, &wanted, &reply);
    if (st == FBP_OK)
        st = take(src, &reply);
    free(reply.bytes);
    return st;
}

const struct fbp_format fbp_format_hdf5 = {
    .name = "hdf5",
    .title = "HDF5",
    .extensions = FBP_HDF5_READ,
    .detect = fbp_hdf5_detect,
    .open = open_hdf5,
    .has_members = true,
    .files = fbp_hdf5_files,
};
