/*
 * MAT files of version 5 around the samples of a sink.  MATLAB's first index runs fastest, as x
 * does: what is stored [z][y][x] is vol(x, y, z), a series vol(x, y, z, frame).  Variables and
 * names are those of the files that programs of EPR laboratories open ("Image_v1.1"): mat_recFXD,
 * rec_info.rec.Size in cm; beside them what this program reads again.  Source: MathWorks, "MAT-File
 * Format", level 5.
 */
#include "array/format/mat/mat_lib.h"

#include "array/file/bytes.h"
#include "array/file/frames.h"
#include "array/file/member.h"
#include "array/file/outfile.h"

#include "base/mem.h"
#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define EXTENSIONS ".mat"

/* The first bytes of a file, which this program may replace as a whole. */
static const char TITLE[] = "MATLAB 5.0 MAT-file, written by fbp";

enum { HEADER = 128, ROOM = 4096, NAME = 63, FIELD = 32 };
enum {
    INT8 = 1,
    UINT8 = 2,
    UINT16 = 4,
    INT32 = 5,
    UINT32 = 6,
    SINGLE = 7,
    DOUBLE = 9,
    MATRIX = 14
};
enum { MX_STRUCT = 2, MX_CHAR = 4, MX_DOUBLE = 6, MX_SINGLE = 7, MX_UINT8 = 9, MX_UINT16 = 11 };

/* What is put together, far below its room. */
struct maker {
    unsigned char bytes[ROOM];
    size_t n;
};

static void put(struct maker *m, const void *data, size_t n)
{
    memcpy(m->bytes + m->n, data, n);
    m->n += n;
}

static void put_tag(struct maker *m, uint32_t type, uint32_t n)
{
    put(m, &type, sizeof type);
    put(m, &n, sizeof n);
}

/* Every element fills up to a multiple of 8. */
static void put_element(struct maker *m, uint32_t type, const void *data, size_t n)
{
    put_tag(m, type, (uint32_t)n);
    put(m, data, n);
    m->n = (m->n + 7) / 8 * 8;
}

/* An array up to its values; *start: for end_array(). */
static void begin_array(struct maker *m, uint32_t class, const char *name, const int32_t *dims,
                        size_t rank, size_t *start)
{
    const uint32_t flags[2] = {class, 0};

    put_tag(m, MATRIX, 0);
    *start = m->n;
    put_element(m, UINT32, flags, sizeof flags);
    put_element(m, INT32, dims, rank * sizeof *dims);
    put_element(m, INT8, name, strlen(name));
}

static void end_array(struct maker *m, size_t start, uint64_t more)
{
    const uint32_t n = (uint32_t)(m->n - start + more);

    memcpy(m->bytes + start - sizeof n, &n, sizeof n);
}

static void put_doubles(struct maker *m, const char *name, const double *v, int32_t n)
{
    size_t start;

    begin_array(m, MX_DOUBLE, name, (int32_t[2]){1, n}, 2, &start);
    put_element(m, DOUBLE, v, (size_t)n * sizeof *v);
    end_array(m, start, 0);
}

static void put_text(struct maker *m, const char *name, const char *text)
{
    const size_t n = strlen(text);
    uint16_t letters[sizeof((struct fbp_array_info *)0)->history];
    size_t start;

    for (size_t i = 0; i < n; i++)
        letters[i] = (unsigned char)text[i];
    begin_array(m, MX_CHAR, name, (int32_t[2]){n > 0, (int32_t)n}, 2, &start);
    put_element(m, UINT16, letters, n * sizeof *letters);
    end_array(m, start, 0);
}

/* A struct of one element, whose fields follow as arrays without names. */
static void begin_struct(struct maker *m, const char *name, const char *const *fields, size_t n,
                         size_t *start)
{
    const uint32_t small = 4u << 16 | INT32, length = FIELD;
    char names[2 * FIELD] = "";

    begin_array(m, MX_STRUCT, name, (int32_t[2]){1, 1}, 2, start);
    put(m, &small, sizeof small);
    put(m, &length, sizeof length);
    for (size_t i = 0; i < n; i++)
        snprintf(names + i * FIELD, FIELD, "%s", fields[i]);
    put_element(m, INT8, names, n * FIELD);
}

/* rec_info.rec.Size, also as size: some of those programs have it so.  Edges in cm, one number of a
 * cube. */
static void put_size(struct maker *m, const struct fbp_array_info *info)
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
    begin_struct(m, "rec_info", rec, 1, &outer);
    begin_struct(m, "", sizes, 2, &inner);
    put_doubles(m, "", cm, cube ? 1 : 3);
    put_doubles(m, "", cm, cube ? 1 : 3);
    end_array(m, inner, 0);
    end_array(m, outer, 0);
}

static void put_facts(struct maker *m, const struct fbp_array_info *info, bool given)
{
    static const char *const file[] = {"FileName"};
    size_t start;

    put_text(m, "file_type", "Image_v1.1");
    put_text(m, FBP_MAT_AXES, FBP_MAT_XYZ);
    put_text(m, FBP_MAT_UNIT, info->unit);
    put_text(m, FBP_MAT_HISTORY, info->history);
    begin_struct(m, "raw_info", file, 1, &start);
    put_text(m, "", "");
    end_array(m, start, 0);
    if (given) {
        put_doubles(m, FBP_MAT_VOXEL, info->spacing_mm, 3);
        put_doubles(m, FBP_MAT_ORIGIN, info->origin_mm, 3);
        put_size(m, info);
    }
    if (info->scale != 0) {
        put_doubles(m, FBP_MAT_SCALE, &info->scale, 1);
        put_doubles(m, FBP_MAT_OFFSET, &info->offset, 1);
    }
}

/* The volume up to its samples, which come last. */
static void put_volume(struct maker *m, const struct fbp_array_info *info, const char *name,
                       uint64_t bytes)
{
    static const struct {
        uint32_t class, type;
    } as[] = {[FBP_U8] = {MX_UINT8, UINT8},
              [FBP_U16] = {MX_UINT16, UINT16},
              [FBP_F32] = {MX_SINGLE, SINGLE},
              [FBP_F64] = {MX_DOUBLE, DOUBLE}};
    const int32_t n[4] = {(int32_t)info->n[0], (int32_t)info->n[1], (int32_t)fbp_frame_slices(info),
                          (int32_t)fbp_array_frames(info)};
    size_t start;

    begin_array(m, as[info->type].class, name, n, n[3] > 1 ? 4 : 3, &start);
    put_tag(m, as[info->type].type, (uint32_t)bytes);
    end_array(m, start, (bytes + 7) / 8 * 8);
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

/* The file is replaced as a whole: variables of others would be lost. */
static fbp_status spare_others(const char *path, const char *file)
{
    char head[sizeof TITLE - 1];
    size_t n = 0;

    FBP_TRY(fbp_read_head(file, head, sizeof head, &n));
    if (n < sizeof head || memcmp(head, "MATLAB", 6) != 0 || memcmp(head, TITLE, n) == 0)
        return FBP_OK;
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: this output would replace the whole file, which another program has "
                    "written: choose another file, or remove that one first",
                    path);
}

static fbp_status check_size(const char *path, const struct fbp_array_info *info, uint64_t *bytes)
{
    FBP_TRY(fbp_array_bytes(path, info, bytes));
    if (*bytes < (uint64_t)1 << 31)
        return FBP_OK;
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: a MAT file of version 5 holds arrays of less than 2 GiB: write .h5, which "
                    "MATLAB's h5read opens",
                    path);
}

static fbp_status layout(const char *path, const struct fbp_array_info *info,
                         uint64_t compressed_bytes, struct fbp_layout *out)
{
    const size_t n = fbp_member_output(path, EXTENSIONS);
    const char *name = path[n] && path[n + 1] ? path + n + 1 : FBP_MAT_VOLUME;
    struct maker *m = NULL;
    uint64_t bytes = 0;
    bool given = false;

    (void)compressed_bytes;
    FBP_TRY(check_name(path, name));
    FBP_TRY(check_size(path, info, &bytes));
    FBP_TRY(fbp_sink_spacing(path, info, &given));
    out->data_path = fbp_format("%.*s", (int)n, path);
    if (!out->data_path)
        return fbp_fail_nomem(n, "a path");
    FBP_TRY(spare_others(path, out->data_path));
    FBP_TRY(fbp_calloc((void **)&m, 1, sizeof *m, "a MAT header"));
    memset(m->bytes, ' ', 116); /* what else may stand there is 0 */
    memcpy(m->bytes, TITLE, sizeof TITLE - 1);
    memcpy(m->bytes + 124, "\0\1IM", 4);
    m->n = HEADER;
    put_facts(m, info, given);
    put_volume(m, info, name, bytes);
    out->header = (char *)m->bytes; /* which begin what was allocated */
    out->header_bytes = m->n;
    out->tail_bytes = (8 - bytes % 8) % 8;
    return FBP_OK;
}

const struct fbp_sink_format fbp_mat_files[] = {
    {.extensions = EXTENSIONS, .layout = layout, .frames = true}, {0}};
