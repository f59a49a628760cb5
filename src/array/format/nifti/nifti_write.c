/* NIfTI-1 headers for sinks: .nii, and .nii.gz, which is the same file behind gzip. */
#include "array/file/frames.h"
#include "array/format/nifti/nifti.h"

#include "base/base.h"
#include "base/text.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { SAMPLES_AT = 352 }; /* behind the header and four zeros: no extension */

/* The header of version 1; members that are not used here keep 0. */
struct header {
    int32_t sizeof_hdr;
    char data_type[10], db_name[18];
    int32_t extents;
    int16_t session_error;
    char regular, dim_info;
    int16_t dim[8];
    float intent_p[3];
    int16_t intent_code, datatype, bitpix, slice_start;
    float pixdim[8], vox_offset, scl_slope, scl_inter;
    int16_t slice_end;
    char slice_code, xyzt_units;
    float cal_max, cal_min, slice_duration, toffset;
    int32_t glmax, glmin;
    char descrip[80], aux_file[24];
    int16_t qform_code, sform_code;
    float quatern[3], qoffset[3], srow[3][4];
    char intent_name[16], magic[4];
};
_Static_assert(sizeof(struct header) == 348, "a header of NIfTI-1 has 348 bytes");

/* NIfTI's x and y run to the patient's right and front, those of MetaImage, of NRRD as it is
 * written here and of this program to left and back: the same place has the opposite x and y.  Both
 * forms, as programs read one or the other; the q-form is half a turn about z. */
static void place(struct header *h, const struct fbp_array_info *info)
{
    for (int i = 0; i < 3; i++)
        h->pixdim[i + 1] = (float)info->spacing_mm[i];
    h->pixdim[0] = 1;
    h->xyzt_units = FBP_NIFTI_MM;
    h->qform_code = h->sform_code = FBP_NIFTI_SCANNER;
    h->quatern[2] = 1;
    h->qoffset[0] = h->srow[0][3] = 0 - (float)info->origin_mm[0]; /* no -0 */
    h->qoffset[1] = h->srow[1][3] = 0 - (float)info->origin_mm[1];
    h->qoffset[2] = h->srow[2][3] = (float)info->origin_mm[2];
    h->srow[0][0] = -h->pixdim[1];
    h->srow[1][1] = -h->pixdim[2];
    h->srow[2][2] = h->pixdim[3];
}

static fbp_status fill(const char *path, const struct fbp_array_info *info, struct header *h)
{
    bool given = false;

    FBP_TRY(fbp_sink_spacing(path, info, &given));
    const size_t n[4] = {info->n[0], info->n[1], fbp_frame_slices(info), fbp_array_frames(info)};

    for (int i = 0; i < 4; i++) {
        if (n[i] > SHRT_MAX)
            return fbp_fail(
                FBP_ERR_INVALID,
                "%s: NIfTI-1 holds up to %d voxels along an axis, not %zu: write .nrrd or "
                ".mha",
                path, SHRT_MAX, n[i]);
        h->dim[i + 1] = (int16_t)n[i];
        h->pixdim[i + 1] = 0;
    }
    h->dim[0] = n[3] > 1 ? 4 : 3;
    h->pixdim[4] = n[3] > 1 ? 1.F : 0; /* frames are counted */
    h->vox_offset = SAMPLES_AT;
    h->scl_slope = (float)info->scale; /* 0: numbers are values, here as there */
    h->scl_inter = (float)info->offset;
    memcpy(h->magic, "n+1", sizeof h->magic);
    if (info->unit[0])
        snprintf(h->descrip, sizeof h->descrip, FBP_NIFTI_UNIT "%.15s", info->unit);
    if (given)
        place(h, info);
    return FBP_OK;
}

static fbp_status layout(const char *path, const struct fbp_array_info *info,
                         uint64_t compressed_bytes, struct fbp_layout *out)
{
    const int type = info->type == FBP_U8    ? FBP_NIFTI_UINT8
                     : info->type == FBP_U16 ? FBP_NIFTI_UINT16
                     : info->type == FBP_F64 ? FBP_NIFTI_FLOAT64
                                             : FBP_NIFTI_FLOAT32;
    struct header h = {.sizeof_hdr = sizeof h,
                       .regular = 'r',
                       .dim = {3, 1, 1, 1, 1, 1, 1, 1},
                       .datatype = (int16_t)type,
                       .bitpix = (int16_t)(8 * fbp_type_size(info->type))};

    (void)compressed_bytes;
    FBP_TRY(fill(path, info, &h));
    FBP_TRY(fbp_calloc((void **)&out->header, SAMPLES_AT, 1, "a NIfTI header"));
    memcpy(out->header, &h, sizeof h);
    out->header_bytes = SAMPLES_AT;
    return fbp_layout_one(out, path);
}

const struct fbp_sink_format fbp_nifti_files[] = {
    {.extensions = ".nii", .layout = layout, .frames = true},
    {.extensions = ".nii.gz", .layout = layout, .gzip = true, .packs_header = true, .frames = true},
    {0},
};
