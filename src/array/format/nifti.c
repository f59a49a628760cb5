/* Reader of NIfTI-1 and NIfTI-2 (.nii, .nii.gz, and .hdr beside .img or .img.gz), and writer of
 * NIfTI-1 (.nii, .nii.gz); table fbp_format_nifti. https://nifti.nimh.nih.gov
 * Used by: array/formats.c. */
#include "array/file/bytes.h"
#include "array/file/format.h"
#include "base/text.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { HEAD = 4096, N1_BYTES = 348, N2_BYTES = 540, N1_LEAST_OFFSET = 352, N2_LEAST_OFFSET = 544 };
enum { METER = 1, MM = 2, MICRON = 3 }; /* units of length */

/* A NIfTI description field that begins with this text continues with the unit of the values. */
#define UNIT "fbp: unit "

/* Sample types by their codes in NIfTI headers; FBP_TYPE_NONE: not supported, only named. */
static const struct {
    int datatype;
    enum fbp_type type;
    const char *name;
} datatypes[] = {{2, FBP_U8, "UINT8"},
                 {4, FBP_I16, "INT16"},
                 {8, FBP_I32, "INT32"},
                 {16, FBP_F32, "FLOAT32"},
                 {64, FBP_F64, "FLOAT64"},
                 {256, FBP_I8, "INT8"},
                 {512, FBP_U16, "UINT16"},
                 {768, FBP_U32, "UINT32"},
                 {0, FBP_TYPE_NONE, "UNKNOWN"},
                 {1, FBP_TYPE_NONE, "BINARY"},
                 {32, FBP_TYPE_NONE, "COMPLEX64"},
                 {128, FBP_TYPE_NONE, "RGB24"},
                 {1024, FBP_TYPE_NONE, "INT64"},
                 {1280, FBP_TYPE_NONE, "UINT64"},
                 {1536, FBP_TYPE_NONE, "FLOAT128"},
                 {1792, FBP_TYPE_NONE, "COMPLEX128"},
                 {2048, FBP_TYPE_NONE, "COMPLEX256"},
                 {2304, FBP_TYPE_NONE, "RGBA32"}};

enum { N_DATATYPES = sizeof datatypes / sizeof *datatypes };

/* Contents of a header of either version. */
struct facts {
    int version;  /* 1 or 2 */
    bool swapped; /* the byte order is not native */
    bool single;  /* header and samples in one file */
    int64_t dim[8], offset;
    int datatype, bitpix;
    double pixdim[8], slope, inter;
    int units, qform, sform;
    double quatern[6]; /* b, c, d, and the offsets x, y, z */
    double srow[3][4];
    char descrip[81];
};

/* ---- finding the header */

/* A number of a NIfTI header in native byte order; its type depends on field and version. */
union number {
    unsigned char bytes[8];
    int16_t s;
    int32_t i;
    int64_t l;
    float f;
    double d;
};

static union number number_at(const unsigned char *head, size_t at, size_t size, bool swapped)
{
    union number x;

    memcpy(x.bytes, head + at, size);
    if (swapped)
        fbp_swap_bytes(x.bytes, size, 1);
    return x;
}

static int64_t int_at(const unsigned char *head, size_t at, size_t size, bool swapped)
{
    const union number x = number_at(head, at, size, swapped);

    return size == 2 ? x.s : size == 4 ? x.i : x.l;
}

static double real_at(const unsigned char *head, size_t at, size_t size, bool swapped)
{
    const union number x = number_at(head, at, size, swapped);

    return size == 4 ? (double)x.f : x.d;
}

/* Find version and byte order of a NIfTI file, and whether it contains the samples, too, by the
 * length and the magic number of its header; false: the file is not NIfTI. */
static bool recognise(const unsigned char *head, size_t n, struct facts *f)
{
    for (int swapped = 0; swapped < 2; swapped++) {
        const int64_t length = n >= 4 ? int_at(head, 0, 4, swapped) : 0;
        const unsigned char *magic = head + (length == N1_BYTES ? 344 : 4);
        f->version = length == N1_BYTES ? 1 : 2;
        f->swapped = swapped;
        if ((length != N1_BYTES && length != N2_BYTES) || n < (size_t)length || magic[0] != 'n' ||
            magic[2] != '0' + f->version || magic[3] != '\0')
            continue;
        f->single = magic[1] == '+';
        return f->single || magic[1] == 'i';
    }
    return false;
}

/* Copy a NIfTI header from the first bytes head[n] of a file, which may be gzip-compressed. */
static fbp_status unpack(const unsigned char *head, size_t n, unsigned char out[N2_BYTES],
                         size_t *got)
{
    if (fbp_is_gzip(head, n))
        return fbp_inflate_head(head, n, out, N2_BYTES, got);
    *got = n < N2_BYTES ? n : N2_BYTES;
    memcpy(out, head, *got);
    return FBP_OK;
}

/* Read the first *n <= N2_BYTES bytes of the NIfTI header from the open file src->fd, decompressed
 * if the file is gzip-compressed (*packed). */
static fbp_status read_head(const struct fbp_source *src, unsigned char out[N2_BYTES], size_t *n,
                            bool *packed)
{
    const uint64_t size = fbp_file_bytes(src->fd);
    unsigned char head[HEAD];

    *n = size < HEAD ? (size_t)size : HEAD;
    FBP_TRY(fbp_read_at(src->fd, src->path, 0, head, *n));
    *packed = fbp_is_gzip(head, *n);
    memset(out, 0, N2_BYTES);
    return unpack(head, *n, out, n);
}

/* Open the other file of a pair .hdr and .img in place of the file src->fd. Its name is src->path
 * with the extension `end`, or, if no such file exists (*packed is then true), with `end` and
 * ".gz". */
static fbp_status open_sibling(struct fbp_source *src, const char *end, bool *packed)
{
    const size_t n = strlen(src->path) - (fbp_has_extension(src->path, ".gz") ? 3 : 0);
    const int stem = (int)(n >= 4 ? n - 4 : 0); /* without ".img" or ".hdr" */
    char *path = fbp_format("%.*s%s", stem, src->path, end);
    uint64_t size = 0;
    int fd = -1;

    *packed = path && access(path, F_OK) != 0;
    if (*packed) {
        free(path);
        path = fbp_format("%.*s%s.gz", stem, src->path, end);
    }
    FBP_TRY(fbp_check_path(path));
    const bool there = access(path, F_OK) == 0;
    fbp_status st = fbp_inputs_add(&src->inputs, path);
    if (st == FBP_OK)
        st = there ? fbp_open_file(path, &fd, &size) : FBP_ERR_IO;
    free(path);
    if (!there)
        return fbp_fail(FBP_ERR_IO,
                        "%s: NIfTI: the second file of the pair, %s or %s.gz, is missing; copy it "
                        "into the same folder",
                        src->path, end, end);
    FBP_TRY(st);
    if (src->fd >= 0)
        close(src->fd);
    src->fd = fd;
    return FBP_OK;
}

/* Recognize a NIfTI file by its header. The file of samples of a pair (.img) has no header: it is
 * recognized by the .hdr file beside it. */
static bool detect(const char *path, const unsigned char *head, size_t n)
{
    struct fbp_source half = {.path = (char *)(uintptr_t)path, .fd = -1}; /* only read */
    unsigned char header[N2_BYTES];
    struct facts f;
    bool packed;
    size_t got = 0;

    if (unpack(head, n, header, &got) == FBP_OK && recognise(header, got, &f))
        return true;
    if (!fbp_has_extension(path, ".img .img.gz"))
        return false;
    const bool found = open_sibling(&half, ".hdr", &packed) == FBP_OK &&
                       read_head(&half, header, &got, &packed) == FBP_OK &&
                       recognise(header, got, &f) && !f.single;
    if (half.fd >= 0)
        close(half.fd);
    fbp_inputs_clear(&half.inputs);
    fbp_message_clear();
    return found;
}

/* ---- contents of the header */

static void take_facts(const unsigned char *head, struct facts *f)
{
    const bool one = f->version == 1, s = f->swapped;
    const double offset = one ? real_at(head, 108, 4, s) : 0;

    for (size_t i = 0; i < 8; i++)
        f->dim[i] = one ? int_at(head, 40 + 2 * i, 2, s) : int_at(head, 16 + 8 * i, 8, s);
    f->datatype = (int)int_at(head, one ? 70 : 12, 2, s);
    f->bitpix = (int)int_at(head, one ? 72 : 14, 2, s);
    if (one) /* version 1 stores the offset as float */
        f->offset =
            offset >= 0 && offset < 0x1p40 && offset == floor(offset) ? (int64_t)offset : -1;
    else
        f->offset = int_at(head, 168, 8, s);
    for (size_t i = 0; i < 8; i++)
        f->pixdim[i] = one ? real_at(head, 76 + 4 * i, 4, s) : real_at(head, 104 + 8 * i, 8, s);
    f->slope = one ? real_at(head, 112, 4, s) : real_at(head, 176, 8, s);
    f->inter = one ? real_at(head, 116, 4, s) : real_at(head, 184, 8, s);
    memcpy(f->descrip, head + (one ? 148 : 240), sizeof f->descrip - 1);
    f->descrip[sizeof f->descrip - 1] = '\0';

    /* The position of the voxels has two forms, s-form and q-form; each may be missing. */
    f->units = one ? head[123] : (int)int_at(head, 500, 4, s);
    f->qform = (int)(one ? int_at(head, 252, 2, s) : int_at(head, 344, 4, s));
    f->sform = (int)(one ? int_at(head, 254, 2, s) : int_at(head, 348, 4, s));
    for (size_t i = 0; i < 6; i++) {
        const double q = one ? real_at(head, 256 + 4 * i, 4, s) : real_at(head, 352 + 8 * i, 8, s);
        f->quatern[i] = isfinite(q) ? q : 0;
    }
    for (size_t i = 0; i < 12; i++)
        f->srow[i / 4][i % 4] =
            one ? real_at(head, 280 + 4 * i, 4, s) : real_at(head, 400 + 8 * i, 8, s);
}

static fbp_status check_facts(const char *path, const struct facts *f, enum fbp_type *type)
{
    const int64_t least = !f->single ? 0 : f->version == 1 ? N1_LEAST_OFFSET : N2_LEAST_OFFSET;
    const char *name = "**ILLEGAL**";

    *type = FBP_TYPE_NONE;
    for (size_t i = 0; i < N_DATATYPES; i++)
        if (datatypes[i].datatype == f->datatype) {
            *type = datatypes[i].type;
            name = datatypes[i].name;
        }
    if (f->dim[0] < 1 || f->dim[0] > 7)
        return FBP_INVALID("%s: NIfTI header: %lld axes; the file is damaged, copy it again", path,
                           (long long)f->dim[0]);
    for (int64_t i = 1; i <= f->dim[0]; i++)
        if (f->dim[i] < 1)
            return FBP_INVALID(
                "%s: NIfTI header: axis %lld has %lld samples; the file is damaged, copy it again",
                path, (long long)i, (long long)f->dim[i]);
    for (int64_t i = 5; i <= f->dim[0]; i++)
        if (f->dim[i] != 1)
            return FBP_UNSUPPORTED(
                "%s: NIfTI: %lld samples along axis %lld, but only three axes, or four for a "
                "series, are supported; save one volume, or one component, as a separate file",
                path, (long long)f->dim[i], (long long)i);
    if (f->dim[0] < 2)
        return FBP_UNSUPPORTED(
            "%s: NIfTI: one axis, expected two or three; save it as an image or a volume", path);
    if (*type == FBP_TYPE_NONE)
        return FBP_UNSUPPORTED("%s: NIfTI: elements of type %d (%s) are not supported; save the "
                               "file as int8 to int32, uint8 to uint32, float32 or float64",
                               path, f->datatype, name);
    if (f->bitpix != 8 * (int)fbp_type_size(*type))
        return FBP_INVALID("%s: NIfTI header: %d bits do not fit elements of type %s; the file is "
                           "damaged, copy it again",
                           path, f->bitpix, fbp_type_name(*type));
    if (f->offset < least)
        return FBP_INVALID("%s: NIfTI header: vox_offset is below %lld, the end of the header; the "
                           "file is damaged, copy it again",
                           path, (long long)least);
    return FBP_OK;
}

/* Set spacing and origin from the s-form, which most programs prefer; if it is missing, from the
 * q-form, else from the voxel distances alone. Missing or invalid distances count as 1. */
static fbp_status take_place(struct fbp_source *src, const struct facts *f)
{
    const int units = f->units & 7;
    const double mm = units == METER ? 1e3 : units == MICRON ? 1e-3 : 1;
    double side[3], m[3][4], step[3][3], origin[3];

    for (int i = 0; i < 3; i++) {
        side[i] = i < f->dim[0] ? f->pixdim[i + 1] : 1;
        side[i] = side[i] != 0 && isfinite(side[i]) ? side[i] : 1;
        for (int k = 0; k < 4; k++)
            m[i][k] = f->sform > 0 ? f->srow[i][k] : i == k ? side[i] : 0;
    }
    if (f->sform <= 0 && f->qform > 0) {
        /* The q-form is a rotation by the unit quaternion (a, b, c, d), multiplied by the
         * distances; pixdim[0] < 0 mirrors the third axis. */
        const double *q = f->quatern, square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2];
        const double scale = 1 - square < 1e-7 ? 1 / sqrt(square) : 1; /* 180 degrees: a is 0 */
        const double a = 1 - square < 1e-7 ? 0 : sqrt(1 - square);
        const double b = scale * q[0], c = scale * q[1], d = scale * q[2];
        const double rotation[3][3] = {
            {a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)},
            {2 * (b * c + a * d), a * a + c * c - b * b - d * d, 2 * (c * d - a * b)},
            {2 * (b * d - a * c), 2 * (c * d + a * b), a * a + d * d - c * c - b * b}};
        for (int i = 0; i < 3; i++) {
            for (int k = 0; k < 3; k++) {
                const double positive = side[k] > 0 ? side[k] : 1;
                m[i][k] = rotation[i][k] * (k == 2 && f->pixdim[0] < 0 ? -positive : positive);
            }
            m[i][3] = q[3 + i];
        }
    }
    for (size_t c = 0; c < 3; c++) {
        origin[c] = mm * m[c][3];
        for (size_t i = 0; i < 3; i++)
            step[i][c] = mm * m[c][i];
    }
    return fbp_source_take_axes(src, f->dim[0] < 3 ? 2 : 3, (const double(*)[3])step, origin);
}

static fbp_status open_nifti(struct fbp_source *src)
{
    struct fbp_array_info *info = &src->info;
    unsigned char head[N2_BYTES];
    struct facts f = {0};
    uint64_t bytes = 0;
    bool packed = false;
    size_t n = 0;

    if (fbp_has_extension(src->path, ".img .img.gz"))
        FBP_TRY(open_sibling(src, ".hdr", &packed));
    FBP_TRY(read_head(src, head, &n, &packed));
    if (!recognise(head, n, &f))
        return FBP_INVALID("%s: not a NIfTI-1 or NIfTI-2 header%s", src->path,
                           n >= 4 && (int_at(head, 0, 4, false) == N1_BYTES ||
                                      int_at(head, 0, 4, true) == N1_BYTES)
                               ? ", but an Analyze 7.5 header, or damaged; save the file as NIfTI"
                               : ", despite its file name; convert the file, or correct the name");
    take_facts(head, &f);
    FBP_TRY(check_facts(src->path, &f, &info->type));

    for (size_t i = 0; i < 3; i++) {
        info->n[i] = (int64_t)i < f.dim[0] ? (size_t)f.dim[i + 1] : 1;
        info->spacing_mm[i] = 1;
    }
    if (f.dim[0] >= 4)
        FBP_TRY(fbp_frames_take(src->path, info, (uint64_t)f.dim[4]));
    info->big_endian = f.swapped != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    if (strncmp(f.descrip, UNIT, sizeof UNIT - 1) == 0) /* written by fbp */
        snprintf(info->unit, sizeof info->unit, "%.15s", f.descrip + sizeof UNIT - 1);
    if (isfinite(f.slope) && isfinite(f.inter) && f.slope != 0 && (f.slope != 1 || f.inter != 0)) {
        info->scale = f.slope;
        info->offset = f.inter;
    }
    if (f.pixdim[1] != 0 || f.pixdim[2] != 0 || f.pixdim[3] != 0)
        FBP_TRY(take_place(src, &f));

    if (!f.single)
        FBP_TRY(open_sibling(src, ".img", &packed));
    src->offset = packed ? 0 : (uint64_t)f.offset;
    if (!packed)
        return FBP_OK;
    FBP_TRY(fbp_array_bytes(src->path, info, &bytes));
    return fbp_inflate_open(src, 0, (uint64_t)f.offset, bytes);
}

/* ---- writing: .nii, and .nii.gz, which is the whole file compressed by gzip */

/* byte of the first sample: after the header and four zeros, which mean "no extension" */
enum { SAMPLES_AT = 352 };

/* A NIfTI header of version 1; members that fbp does not set stay 0. */
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

static fbp_status layout(const char *path, const struct fbp_array_info *info,
                         uint64_t compressed_bytes, struct fbp_layout *out)
{
    const size_t n[4] = {info->n[0], info->n[1], fbp_frame_slices(info), fbp_array_frames(info)};
    struct header h = {.sizeof_hdr = sizeof h,
                       .regular = 'r',
                       .dim = {3, 1, 1, 1, 1, 1, 1, 1},
                       .bitpix = (int16_t)(8 * fbp_type_size(info->type)),
                       .vox_offset = SAMPLES_AT,
                       .scl_slope = (float)info->scale, /* 0: no scale, as in fbp */
                       .scl_inter = (float)info->offset,
                       .magic = "n+1"};
    bool given = false;

    (void)compressed_bytes;
    FBP_TRY(fbp_sink_spacing(path, info, &given));
    for (size_t i = 0; i < N_DATATYPES; i++)
        if (datatypes[i].type == info->type)
            h.datatype = (int16_t)datatypes[i].datatype;
    for (int i = 0; i < 4; i++) {
        if (n[i] > SHRT_MAX)
            return FBP_INVALID("%s: NIfTI-1 allows at most %d voxels along an axis, and as many "
                               "frames, but the volume has %zu; write .nrrd or .mha",
                               path, SHRT_MAX, n[i]);
        h.dim[i + 1] = (int16_t)n[i];
    }
    h.dim[0] = n[3] > 1 ? 4 : 3;
    h.pixdim[4] = n[3] > 1 ? 1.F : 0; /* the unit of time is one frame */
    if (info->unit[0])
        snprintf(h.descrip, sizeof h.descrip, UNIT "%.15s", info->unit);
    if (given) {
        /* NIfTI's x and y point to the patient's right and front; those of MetaImage, NRRD (as fbp
         * writes it) and fbp point to the left and back. Therefore x and y change their signs. Both
         * forms are written, because programs read one or the other; the q-form is a rotation by
         * 180 degrees about z. */
        for (int i = 0; i < 3; i++)
            h.pixdim[i + 1] = (float)info->spacing_mm[i];
        h.pixdim[0] = 1;
        h.xyzt_units = MM;
        h.qform_code = h.sform_code = 1; /* scanner coordinates */
        h.quatern[2] = 1;
        h.qoffset[0] = h.srow[0][3] = 0 - (float)info->origin_mm[0]; /* no -0 */
        h.qoffset[1] = h.srow[1][3] = 0 - (float)info->origin_mm[1];
        h.qoffset[2] = h.srow[2][3] = (float)info->origin_mm[2];
        h.srow[0][0] = -h.pixdim[1];
        h.srow[1][1] = -h.pixdim[2];
        h.srow[2][2] = h.pixdim[3];
    }
    FBP_TRY(fbp_calloc((void **)&out->header, SAMPLES_AT, 1, "a NIfTI header"));
    memcpy(out->header, &h, sizeof h);
    out->header_bytes = SAMPLES_AT;
    return fbp_layout_one(out, path);
}

static const struct fbp_sink_format files[] = {
    {.extensions = ".nii", .layout = layout, .frames = true},
    {.extensions = ".nii.gz", .layout = layout, .gzip = true, .packs_header = true, .frames = true},
    {0},
};

const struct fbp_format fbp_format_nifti = {
    .name = "nifti",
    .title = "NIfTI",
    .extensions = ".nii .nii.gz .hdr",
    .detect = detect,
    .open = open_nifti,
    .files = files,
};
