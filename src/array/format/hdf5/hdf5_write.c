/* Volumes as HDF5: the header of a draft, behind which the samples come. */
#include "array/format/hdf5/hdf5.h"
#include "array/format/hdf5/hdf5_draft.h"

/* In a child: the file without its samples; the reply is what stands before them. */
static fbp_status make_header(void *arg, struct fbp_blob *reply)
{
    size_t offset;

    FBP_TRY(fbp_hdf5_draft_header(arg, reply, &offset));
    return fbp_hdf5_spare_others(arg);
}

static fbp_status layout(const char *path, const struct fbp_array_info *info,
                         uint64_t compressed_bytes, struct fbp_layout *out)
{
    struct fbp_hdf5_draft draft;
    struct fbp_blob reply = {0};

    (void)compressed_bytes;
    FBP_TRY(fbp_hdf5_draft_open(path, info, &out->data_path, &draft));
    const fbp_status st = fbp_hdf5_contain(path, &fbp_hdf5_limits, make_header, &draft, &reply);
    fbp_hdf5_draft_close(&draft);
    FBP_TRY(st);
    out->header = (char *)reply.bytes;
    out->header_bytes = reply.n;
    return FBP_OK;
}

const struct fbp_sink_format fbp_hdf5_files[] = {
    {.extensions = FBP_HDF5_WRITTEN, .layout = layout, .frames = true, .split = &fbp_hdf5_split},
    {0}};
