/*
 * MAT files of version 5 around the samples of a sink.  MATLAB's first index runs fastest, as x
 * does: what is stored [z][y][x] is vol(x, y, z), a series vol(x, y, z, frame).  Variables and
 * names are those of the files that programs of EPR laboratories open ("Image_v1.1"): mat_recFXD,
 * rec_info.rec.Size in cm; beside them what this program reads again.  Source: MathWorks, "MAT-File
 * Format", level 5.
 */
#include "array/format/mat/mat_put.h"

#include "array/file/frames.h"
#include "array/file/member.h"

#include "base/base.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>

#define EXTENSIONS ".mat"

enum { NAME = 63 };

/* rec_info.rec.Size, also as size: some of those programs have it so.  Edges in cm, one number of a
 * cube. */
static void put_size(struct fbp_mat_maker *m, const struct fbp_array_info *info)
{
    static const char *const rec[] = {"rec"}, *const sizes[] = {"Size", "size"};
    size_t outer, inner;
    double cm[3];
    bool cube = true;

    for (int i = 0; i < 3; i++) {
        const size_t n = i == 2 ? fbp_frame_slices(info) : info->n[i];
        cm[i] = (double)n * info->spacing_mm[i] / 10;
        cube = cube && cm[i] >= cm[0] && cm[i] <= cm[0];
    }
    fbp_mat_begin_struct(m, "rec_info", rec, 1, &outer);
    fbp_mat_begin_struct(m, "", sizes, 2, &inner);
    fbp_mat_put_doubles(m, "", cm, 1, cube ? 1 : 3);
    fbp_mat_put_doubles(m, "", cm, 1, cube ? 1 : 3);
    fbp_mat_end_struct(m, inner);
    fbp_mat_end_struct(m, outer);
}

static void put_facts(struct fbp_mat_maker *m, const struct fbp_array_info *info, bool given)
{
    static const char *const file[] = {"FileName"};
    size_t start;

    fbp_mat_put_text(m, "file_type", "Image_v1.1");
    fbp_mat_put_text(m, FBP_MAT_AXES, FBP_MAT_XYZ);
    fbp_mat_put_text(m, FBP_MAT_UNIT, info->unit);
    fbp_mat_put_text(m, FBP_MAT_HISTORY, info->history);
    fbp_mat_begin_struct(m, "raw_info", file, 1, &start);
    fbp_mat_put_text(m, "", "");
    fbp_mat_end_struct(m, start);
    if (given) {
        fbp_mat_put_doubles(m, FBP_MAT_VOXEL, info->spacing_mm, 1, 3);
        fbp_mat_put_doubles(m, FBP_MAT_ORIGIN, info->origin_mm, 1, 3);
        put_size(m, info);
    }
    if (info->scale != 0) {
        fbp_mat_put_doubles(m, FBP_MAT_SCALE, &info->scale, 1, 1);
        fbp_mat_put_doubles(m, FBP_MAT_OFFSET, &info->offset, 1, 1);
    }
}

/* A name that MATLAB takes, and none of ours. */
static fbp_status check_name(const char *path, const char *name)
{
    static const char *const ours[] = {
        FBP_MAT_HISTORY, "file_type",   FBP_MAT_UNIT,   "raw_info",    "rec_info",
        FBP_MAT_AXES,    FBP_MAT_VOXEL, FBP_MAT_ORIGIN, FBP_MAT_SCALE, FBP_MAT_OFFSET};
    bool good = isalpha((unsigned char)name[0]) && strlen(name) <= NAME;

    for (const char *c = name; good && *c; c++)
        good = isalnum((unsigned char)*c) || *c == '_';
    for (size_t i = 0; good && i < sizeof ours / sizeof *ours; i++)
        good = strcmp(name, ours[i]) != 0;
    if (good)
        return FBP_OK;
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: \"%.80s\" cannot be the name of the volume: use letters, digits and '_' "
                    "(up to %d, a letter first), such as %s, and no name of the format's own",
                    path, name, NAME, FBP_MAT_VOLUME);
}

static fbp_status layout(const char *path, const struct fbp_array_info *info,
                         uint64_t compressed_bytes, struct fbp_layout *out)
{
    const size_t n = fbp_member_output(path, EXTENSIONS);
    const char *name = path[n] && path[n + 1] ? path + n + 1 : FBP_MAT_VOLUME;
    const size_t sizes[4] = {info->n[0], info->n[1], fbp_frame_slices(info),
                             fbp_array_frames(info)};
    struct fbp_mat_maker m;
    uint64_t bytes = 0;
    bool given = false;

    (void)compressed_bytes;
    FBP_TRY(check_name(path, name));
    FBP_TRY(fbp_mat_check_size(path, info, ".h5, which MATLAB's h5read opens", &bytes));
    FBP_TRY(fbp_sink_spacing(path, info, &given));
    out->data_path = fbp_format("%.*s", (int)n, path);
    if (!out->data_path)
        return fbp_fail_nomem(n, "a path");
    FBP_TRY(fbp_mat_spare_others(path, out->data_path));
    FBP_TRY(fbp_mat_begin(&m, 0));
    put_facts(&m, info, given);
    fbp_mat_end(&m, name, info->type, sizes, sizes[3] > 1 ? 4 : 3, bytes, out);
    return FBP_OK;
}

const struct fbp_sink_format fbp_mat_files[] = {
    {.extensions = EXTENSIONS, .layout = layout, .frames = true}, {0}};
