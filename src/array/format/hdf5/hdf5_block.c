/* Blocks of a data set that only the library can read. */
#include "array/file/frames.h"
#include "array/format/hdf5/hdf5.h"
#include "array/format/hdf5/hdf5_lib.h"

/* The library takes memory for each. */
enum { FILES_AT_ONCE = 256 };

/* A block in the data set's own dimensions; of a series it lies in one frame. */
struct box {
    hsize_t first[FBP_HDF5_RANK], n[FBP_HDF5_RANK], room[FBP_HDF5_RANK];
    char *out;
};

static fbp_status read_box(hid_t data, const struct fbp_hdf5_block *b, const struct box *box)
{
    const struct fbp_hdf5_array *a = b->array;
    const hsize_t zero[FBP_HDF5_RANK] = {0};
    char why[200];

    const hid_t from = H5Dget_space(data), to = H5Screate_simple(a->rank, box->room, NULL);
    H5Sselect_hyperslab(from, H5S_SELECT_SET, box->first, NULL, box->n, NULL);
    H5Sselect_hyperslab(to, H5S_SELECT_SET, zero, NULL, box->n, NULL);
    const bool done =
        H5Dread(data, fbp_hdf5_type(a->info.type), to, from, H5P_DEFAULT, box->out) >= 0;
    H5Sclose(to);
    H5Sclose(from);
    return done ? FBP_OK
                : fbp_fail(FBP_ERR_INVALID,
                           "%s: slices from %zu on cannot be read%s: the file is damaged, copy it "
                           "again",
                           b->path, b->first[2], fbp_hdf5_reason(why, sizeof why));
}

/* `nz` slices from the block's slice z on. */
static struct box box_of(const struct fbp_hdf5_block *b, size_t z, size_t nz)
{
    const struct fbp_hdf5_array *a = b->array;
    const size_t slice = b->room[0] * b->room[1] * fbp_type_size(a->info.type);
    const size_t frame = fbp_frame_slices(&a->info), first = b->first[2] + z;
    struct box box = {.out = (char *)b->out + z * slice};

    for (int i = 0; i < a->rank; i++) {
        const int axis = fbp_hdf5_axis(a, i);
        box.first[i] = axis < 2 ? b->first[axis] : axis == 2 ? first : first / frame;
        box.n[i] = axis < 2 ? b->n[axis] : axis == 2 ? nz : 1;
        box.room[i] = axis < 2 ? b->room[axis] : axis == 2 ? b->room[2] - z : 1;
        if (a->rank == FBP_HDF5_RANK && axis == 2)
            box.first[i] = first % frame;
    }
    return box;
}

/* Nothing is read of what does not fit.  Closed, the data set holds no files open. */
static fbp_status try_slices(hid_t file, const struct fbp_hdf5_block *b, size_t z, size_t nz,
                             size_t most, bool *fits)
{
    const struct box box = box_of(b, z, nz);
    const hid_t data = H5Dopen2(file, b->array->data_set, fbp_hdf5_access());
    char why[200];

    if (data < 0)
        return fbp_fail(FBP_ERR_INVALID, "%s: cannot be opened any more%s", b->path,
                        fbp_hdf5_reason(why, sizeof why));
    fbp_status st = fbp_hdf5_check_block(data, b->path, box.first, box.n, most, fits);
    if (st == FBP_OK && *fits)
        st = read_box(data, b, &box);
    H5Dclose(data);
    return st;
}

/* Slices that come from too many files are read in halves. */
static fbp_status read_slices(hid_t file, const struct fbp_hdf5_block *b, size_t z, size_t nz)
{
    bool fits = false;

    FBP_TRY(try_slices(file, b, z, nz, nz > 1 ? FILES_AT_ONCE : SIZE_MAX, &fits));
    if (fits)
        return FBP_OK;
    if (nz == 1)
        return fbp_fail(FBP_ERR_IO,
                        "%s: slice %zu comes from more files than this process may have open: "
                        "raise the number of open files (ulimit -n)",
                        b->path, b->first[2] + z);
    FBP_TRY(read_slices(file, b, z, nz / 2));
    return read_slices(file, b, z + nz / 2, nz - nz / 2);
}

/* Of a series, frame after frame. */
static fbp_status read_block(hid_t file, const struct fbp_hdf5_block *b)
{
    const bool series = b->array->rank == FBP_HDF5_RANK;
    const size_t frame = fbp_frame_slices(&b->array->info);

    for (size_t z = 0, nz; z < b->n[2]; z += nz) {
        const size_t left = frame - (b->first[2] + z) % frame;
        nz = series && left < b->n[2] - z ? left : b->n[2] - z;
        FBP_TRY(read_slices(file, b, z, nz));
    }
    return FBP_OK;
}

fbp_status fbp_hdf5_read_block(void *arg, struct fbp_blob *reply)
{
    const struct fbp_hdf5_block *b = arg;
    hid_t file;

    (void)reply;
    FBP_TRY(fbp_hdf5_open(b->array->file, b->path, &file));
    const fbp_status st = read_block(file, b);
    H5Fclose(file);
    return st;
}
