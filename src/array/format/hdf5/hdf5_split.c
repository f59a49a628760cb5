/* A volume in several HDF5 files: their headers, and the file that joins them. */
#include "array/file/frames.h"
#include "array/format/hdf5/hdf5_draft.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* What a piece says of itself: a volume, at its place. */
static struct fbp_array_info piece_info(const struct fbp_array_info *info,
                                        const struct fbp_split_file *f)
{
    struct fbp_array_info one = *info;

    one.frames = 0;
    one.n[2] = f->nz;
    one.origin_mm[2] += (double)(f->z0 % fbp_frame_slices(info)) * one.spacing_mm[2];
    return one;
}

/* Before each header its size, without the zeros that end it, and the offset of the samples. */
static fbp_status put_piece(const struct fbp_hdf5_draft *w, const struct fbp_split_file *f,
                            struct fbp_blob *reply)
{
    const struct fbp_array_info info = piece_info(w->info, f);
    struct fbp_hdf5_draft one = *w;
    struct fbp_blob header = {0};
    size_t sizes[2] = {0};

    one.info = &info;
    one.data_set = FBP_HDF5_PIECE;
    one.pieces = NULL;
    fbp_status st = fbp_hdf5_draft_header(&one, &header, &sizes[1]);
    for (sizes[0] = header.n; sizes[0] > 0 && header.bytes[sizes[0] - 1] == 0;)
        sizes[0]--;
    if (st == FBP_OK)
        st = fbp_blob_put(reply, sizes, sizeof sizes);
    if (st == FBP_OK)
        st = fbp_blob_put(reply, header.bytes, sizes[0]);
    free(header.bytes);
    return st;
}

/* In a child: headers of all pieces, then the file that joins them. */
static fbp_status make_all(void *arg, struct fbp_blob *reply)
{
    const struct fbp_hdf5_draft *w = arg;

    for (size_t k = 0; k < w->pieces->n_files; k++)
        FBP_TRY(put_piece(w, &w->pieces->file[k], reply));
    FBP_TRY(fbp_hdf5_draft_whole(w, reply));
    return fbp_hdf5_spare_others(w);
}

static bool take_piece(const struct fbp_blob *reply, size_t *at, struct fbp_split_files *p,
                       size_t k)
{
    struct fbp_split_file *f = &p->file[k];
    size_t sizes[2];

    if (!fbp_blob_take(reply, at, sizes, sizeof sizes) || sizes[0] == 0 || sizes[0] > sizes[1] ||
        (k > 0 && sizes[1] != p->offset))
        return false;
    p->offset = sizes[1];
    f->header_bytes = sizes[0];
    f->header = malloc(sizes[0]);
    return f->header && fbp_blob_take(reply, at, f->header, sizes[0]);
}

static fbp_status take_all(const char *path, const struct fbp_blob *reply,
                           struct fbp_split_files *p, struct fbp_layout *out)
{
    size_t at = 0;

    for (size_t k = 0; k < p->n_files; k++)
        if (!take_piece(reply, &at, p, k))
            return fbp_fail(FBP_ERR_UNSUPPORTED,
                            "%s: headers of its files differ in size, or did not come back whole: "
                            "leave --split out",
                            path);
    out->header_bytes = reply->n - at;
    out->header = malloc(out->header_bytes);
    if (!out->header)
        return fbp_fail_nomem(out->header_bytes, "an HDF5 file");
    memcpy(out->header, reply->bytes + at, out->header_bytes);
    return FBP_OK;
}

static fbp_status layout(const char *path, const struct fbp_array_info *info,
                         struct fbp_split_files *pieces, struct fbp_layout *out)
{
    struct fbp_hdf5_draft draft;
    struct fbp_blob reply = {0};

    FBP_TRY(fbp_hdf5_draft_open(path, info, &out->data_path, &draft));
    draft.pieces = pieces;
    fbp_status st = fbp_hdf5_contain(path, &fbp_hdf5_limits, make_all, &draft, &reply);
    fbp_hdf5_draft_close(&draft);
    if (st == FBP_OK)
        st = take_all(path, &reply, pieces, out);
    free(reply.bytes);
    return st;
}

const struct fbp_split_format fbp_hdf5_split = {.extension = ".h5", .layout = layout};
