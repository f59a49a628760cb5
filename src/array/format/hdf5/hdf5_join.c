/* A virtual data set, which joins files to one volume.  It names them by where they lie from its
 * own file, so that all can be moved together: https://docs.hdfgroup.org, H5Pset_virtual(). */
#include "array/file/frames.h"
#include "array/format/hdf5/hdf5_draft.h"

#include <math.h>
#include <stdio.h>

enum { NAME = 1024 };

/* "FOLDER/NAME" as the library wants it, for which "%" begins a number. */
static bool write_name(const struct fbp_split_files *p, const struct fbp_split_file *f,
                       char out[NAME])
{
    char plain[NAME];
    size_t n = 0;

    if (snprintf(plain, sizeof plain, "%s/%s", p->folder, f->name) >= (int)sizeof plain)
        return false;
    for (const char *c = plain; *c; c++) {
        if (n + 3 > NAME)
            return false;
        if (*c == '%')
            out[n++] = '%';
        out[n++] = *c;
    }
    out[n] = '\0';
    return true;
}

/* All of a piece, at its place. */
static bool join_piece(hid_t how, hid_t space, const struct fbp_hdf5_draft *w,
                       const struct fbp_split_file *f)
{
    const bool series = fbp_array_frames(w->info) > 1;
    const size_t frame = f->z0 / fbp_frame_slices(w->info), z = f->z0 % fbp_frame_slices(w->info);
    const hsize_t first[4] = {frame, z, 0, 0}, n[4] = {1, f->nz, w->info->n[1], w->info->n[0]};
    const int skip = series ? 0 : 1; /* dimensions that there are not */
    char name[NAME];

    if (!write_name(w->pieces, f, name))
        return false;
    const hid_t from = H5Screate_simple(3, n + 1, NULL);
    const bool done =
        H5Sselect_hyperslab(space, H5S_SELECT_SET, first + skip, NULL, n + skip, NULL) >= 0 &&
        H5Pset_virtual(how, space, name, FBP_HDF5_PIECE, from) >= 0;
    H5Sclose(from);
    return done;
}

/* Other programs read the fill value in place of a file that is not there. */
static bool fill_with_nan(hid_t how, const struct fbp_array_info *info)
{
    const double nan = NAN;

    return (info->type != FBP_F32 && info->type != FBP_F64) ||
           H5Pset_fill_value(how, H5T_NATIVE_DOUBLE, &nan) >= 0;
}

bool fbp_hdf5_join(hid_t how, hid_t space, const struct fbp_hdf5_draft *w)
{
    const hid_t part = H5Scopy(space);
    bool done = fill_with_nan(how, w->info);

    for (size_t k = 0; k < w->pieces->n_files && done; k++)
        done = join_piece(how, part, w, &w->pieces->file[k]);
    H5Sclose(part);
    return done;
}
