/* NIfTI-1 headers for sinks: .nii, and .nii.gz, which is the same file behind gzip. */
#include "array/file/frames.h"
#include "array/format/nifti/nifti.h"

#include "base/mem.h"
#include "base/text.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <nifti2_io.h>

enum { SAMPLES_AT = 352 }; /* the header, and four bytes that say there is no extension */

/* NIfTI's x and y run to the patient's right and front, those of MetaImage, of NRRD as it is
 * written here and of this program to left and back: the same place has the opposite x and y.  Both
 * forms, as programs read one or the other; the q-form is half a turn about z. */
static void place(nifti_1_header *h, const struct fbp_array_info *info)
{
    for (int i = 0; i < 3; i++)
        h->pixdim[i + 1] = (float)info->spacing_mm[i];
    h->pixdim[0] = 1;
    h->xyzt_units = NIFTI_UNITS_MM;
    h->qform_code = h->sform_code = NIFTI_XFORM_SCANNER_ANAT;
    h->quatern_d = 1;
    h->qoffset_x = h->srow_x[3] = 0 - (float)info->origin_mm[0]; /* no -0 */
    h->qoffset_y = h->srow_y[3] = 0 - (float)info->origin_mm[1];
    h->qoffset_z = h->srow_z[3] = (float)info->origin_mm[2];
    h->srow_x[0] = -h->pixdim[1];
    h->srow_y[1] = -h->pixdim[2];
    h->srow_z[2] = h->pixdim[3];
}

static fbp_status fill(const char *path, const struct fbp_array_info *info, nifti_1_header *h)
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
        h->dim[i + 1] = (short)n[i];
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
    const int type = info->type == FBP_U8    ? NIFTI_TYPE_UINT8
                     : info->type == FBP_U16 ? NIFTI_TYPE_UINT16
                     : info->type == FBP_F64 ? NIFTI_TYPE_FLOAT64
                                             : NIFTI_TYPE_FLOAT32;
    nifti_1_header h = {.sizeof_hdr = sizeof h,
                        .regular = 'r',
                        .dim = {3, 1, 1, 1, 1, 1, 1, 1},
                        .datatype = (short)type,
                        .bitpix = (short)(8 * fbp_type_size(info->type))};

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
