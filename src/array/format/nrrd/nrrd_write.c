/* NRRD headers for sinks, attached and detached.  NRRD has no field for what integers mean: two
 * keys of our own, which other readers ignore, say it. */
#include "array/file/bytes.h"
#include "array/file/frames.h"
#include "array/format/nrrd/nrrd.h"

#include "base/base.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* "field: (x,0,0) (0,y,0) (0,0,z)", and the origin; the coordinates are those of other formats. */
static fbp_status place(const struct fbp_array_info *info, char **out)
{
    char s[3][32], o[3][32];

    for (int i = 0; i < 3; i++) {
        fbp_number_text(s[i], info->spacing_mm[i]);
        fbp_number_text(o[i], info->origin_mm[i]);
    }
    *out =
        fbp_format("space: left-posterior-superior\n"
                   "space directions: (%s,0,0) (0,%s,0) (0,0,%s)%s\n"
                   "space origin: (%s,%s,%s)\nspace units: \"mm\" \"mm\" \"mm\"\n",
                   s[0], s[1], s[2], fbp_array_frames(info) > 1 ? " none" : "", o[0], o[1], o[2]);
    return *out ? FBP_OK : fbp_fail_nomem(512, "an NRRD header");
}

static fbp_status header(const char *path, const struct fbp_array_info *info, bool compressed,
                         const char *data_file, char **out)
{
    const bool series = fbp_array_frames(info) > 1;
    char *where = NULL, frames[32] = "", unit[40] = "", scale[160] = "", history[300] = "", a[32],
         b[32];
    const char *type = info->type == FBP_U8    ? "uint8"
                       : info->type == FBP_U16 ? "uint16"
                       : info->type == FBP_F64 ? "double"
                                               : "float";
    bool given = false;

    FBP_TRY(fbp_sink_spacing(path, info, &given));
    if (given)
        FBP_TRY(place(info, &where));
    if (info->unit[0])
        snprintf(unit, sizeof unit, "sample units: \"%.15s\"\n", info->unit);
    if (info->history[0])
        snprintf(history, sizeof history, NRRD_HISTORY ":=%s\n", info->history);
    if (info->scale != 0)
        snprintf(scale, sizeof scale, NRRD_SCALE ":=%s\n" NRRD_OFFSET ":=%s\n",
                 fbp_number_text(a, info->scale), fbp_number_text(b, info->offset));
    if (series)
        snprintf(frames, sizeof frames, " %zu", info->frames);
    *out = fbp_format("NRRD0004\ntype: %s\ndimension: %d\n%ssizes: %zu %zu %zu%s\n"
                      "kinds: domain domain domain%s\nendian: little\nencoding: %s\n%s%s%s%s%s%s",
                      type, series ? 4 : 3, where ? where : "", info->n[0], info->n[1],
                      fbp_frame_slices(info), frames, series ? " time" : "",
                      compressed ? "gzip" : "raw", unit, scale, history,
                      data_file ? "data file: " : "", data_file ? data_file : "", "\n");
    free(where);
    return *out ? FBP_OK : fbp_fail_nomem(512, "an NRRD header");
}

static fbp_status layout_nrrd(const char *path, const struct fbp_array_info *info,
                              uint64_t compressed_bytes, struct fbp_layout *out)
{
    FBP_TRY(header(path, info, compressed_bytes > 0, NULL, &out->header));
    out->header_bytes = strlen(out->header);
    return fbp_layout_one(out, path);
}

static fbp_status layout_nhdr(const char *path, const struct fbp_array_info *info,
                              uint64_t compressed_bytes, struct fbp_layout *out)
{
    const char *name;

    FBP_TRY(fbp_layout_pair(out, path, ".nhdr", compressed_bytes ? ".raw.gz" : ".raw", &name));
    return header(path, info, compressed_bytes > 0, name, &out->side_text);
}

const struct fbp_sink_format fbp_nrrd_files[] = {
    {.extensions = ".nrrd",
     .layout = layout_nrrd,
     .can_compress = true,
     .gzip = true,
     .frames = true},
    {.extensions = ".nhdr",
     .layout = layout_nhdr,
     .can_compress = true,
     .gzip = true,
     .frames = true},
    {0},
};
