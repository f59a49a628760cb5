/* NIfTI-1 and NIfTI-2: .nii, .nii.gz, and .hdr beside .img or .img.gz.  https://nifti.nimh.nih.gov
 */
#include "array/format/nifti/nifti.h"
#include "array/file/axes.h"
#include "array/file/bytes.h"
#include "array/file/frames.h"
#include "array/file/inflate.h"

#include "base/base.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { HEAD = 4096, N1_BYTES = 348, N2_BYTES = 540, N1_LEAST_OFFSET = 352, N2_LEAST_OFFSET = 544 };

/* Contents of a header of either version. */
struct facts {
    int version;  /* 1 or 2 */
    bool swapped; /* bytes, against this machine */
    bool single;  /* header and samples in one file */
    int64_t dim[8], offset;
    int datatype, bitpix;
    bool has_spacing;
    double pixdim[8], slope, inter;
    int units, qform, sform;
    double quatern[6]; /* b, c, d, and the offsets x, y, z */
    double srow[3][4];
    char descrip[81];
};

static int64_t int_at(const unsigned char *head, size_t at, size_t size, bool swapped)
{
    unsigned char b[8];
    int16_t s;
    int32_t i;
    int64_t l;

    memcpy(b, head + at, size);
    if (swapped)
        fbp_swap_bytes(b, size, 1);
    memcpy(&s, b, sizeof s);
    if (size == 2)
        return s;
    memcpy(&i, b, sizeof i);
    if (size == 4)
        return i;
    memcpy(&l, b, sizeof l);
    return l;
}

static double real_at(const unsigned char *head, size_t at, size_t size, bool swapped)
{
    unsigned char b[8];
    float f;
    double d;

    memcpy(b, head + at, size);
    if (swapped)
        fbp_swap_bytes(b, size, 1);
    memcpy(&f, b, sizeof f);
    if (size == 4)
        return (double)f;
    memcpy(&d, b, sizeof d);
    return d;
}

/* Version, byte order and kind of file, by length and magic. */
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

/* The header as it is, out of a gzip stream if it is in one. */
static fbp_status unpack(const unsigned char *head, size_t n, unsigned char out[N2_BYTES],
                         size_t *got)
{
    if (fbp_is_gzip(head, n))
        return fbp_inflate_head(head, n, out, N2_BYTES, got);
    *got = n < N2_BYTES ? n : N2_BYTES;
    memcpy(out, head, *got);
    return FBP_OK;
}

/* malloc'ed name without ".gz" and ".img"/".hdr", and `end` in their place. */
static char *sibling(const char *path, const char *end, bool packed)
{
    size_t n = strlen(path);

    if (fbp_has_extension(path, ".gz"))
        n -= 3;
    return fbp_format("%.*s%s%s", (int)(n >= 4 ? n - 4 : 0), path, end, packed ? ".gz" : "");
}

/* Go over to NAMEend or, *packed, NAMEend.gz, beside src->path. */
static fbp_status open_sibling(struct fbp_source *src, const char *end, bool *packed)
{
    char *path = sibling(src->path, end, *packed = false);
    uint64_t size = 0;
    int fd = -1;

    if (path && access(path, F_OK) != 0) {
        free(path);
        path = sibling(src->path, end, *packed = true);
    }
    if (!path)
        return fbp_fail_nomem(strlen(src->path), "a path");
    const bool there = access(path, F_OK) == 0;
    fbp_status st = fbp_inputs_add(&src->inputs, path);
    if (st == FBP_OK)
        st = there ? fbp_open_file(path, &fd, &size) : FBP_ERR_IO;
    free(path);
    if (!there)
        return fbp_fail(
            FBP_ERR_IO,
            "%s: NIfTI: its other half, %s or %s.gz beside it, is missing: copy it, too", src->path,
            end, end);
    FBP_TRY(st);
    if (src->fd >= 0)
        close(src->fd);
    src->fd = fd;
    return FBP_OK;
}

/* Up to N2_BYTES of header from the file that src->fd is at. */
static fbp_status read_head(const struct fbp_source *src, unsigned char out[N2_BYTES], size_t *n,
                            bool *packed)
{
    const off_t end = lseek(src->fd, 0, SEEK_END);
    unsigned char head[HEAD];

    *n = end < 0 ? 0 : end < HEAD ? (size_t)end : HEAD;
    FBP_TRY(fbp_read_at(src->fd, src->path, 0, head, *n));
    *packed = fbp_is_gzip(head, *n);
    memset(out, 0, N2_BYTES);
    return unpack(head, *n, out, n);
}

/* The header of a pair whose half with the samples is named; that half has no mark of its own, and
 * many a headerless file is called .img. */
static bool has_header_beside(const char *path)
{
    struct fbp_source half = {.path = (char *)(uintptr_t)path, .fd = -1}; /* only read */
    unsigned char header[N2_BYTES];
    struct facts f;
    bool packed;
    size_t n = 0;

    const bool found = open_sibling(&half, ".hdr", &packed) == FBP_OK &&
                       read_head(&half, header, &n, &packed) == FBP_OK &&
                       recognise(header, n, &f) && !f.single;
    if (half.fd >= 0)
        close(half.fd);
    fbp_inputs_clear(&half.inputs);
    fbp_message_clear();
    return found;
}

static bool detect(const char *path, const unsigned char *head, size_t n)
{
    unsigned char header[N2_BYTES];
    struct facts f;

    size_t got = 0;

    if (unpack(head, n, header, &got) == FBP_OK && recognise(header, got, &f))
        return true;
    return fbp_has_extension(path, ".img .img.gz") && has_header_beside(path);
}

static double finite_or_0(double x)
{
    return isfinite(x) ? x : 0;
}

/* Where the voxels lie, in two ways, of which either may be missing. */
static void take_forms(const unsigned char *head, struct facts *f)
{
    const bool one = f->version == 1, s = f->swapped;

    f->units = one ? head[123] : (int)int_at(head, 500, 4, s);
    f->qform = (int)(one ? int_at(head, 252, 2, s) : int_at(head, 344, 4, s));
    f->sform = (int)(one ? int_at(head, 254, 2, s) : int_at(head, 348, 4, s));
    for (size_t i = 0; i < 6; i++)
        f->quatern[i] =
            finite_or_0(one ? real_at(head, 256 + 4 * i, 4, s) : real_at(head, 352 + 8 * i, 8, s));
    for (size_t i = 0; i < 12; i++)
        f->srow[i / 4][i % 4] =
            one ? real_at(head, 280 + 4 * i, 4, s) : real_at(head, 400 + 8 * i, 8, s);
}

static void take_facts(const unsigned char *head, struct facts *f)
{
    const bool one = f->version == 1, s = f->swapped;
    const double offset = one ? real_at(head, 108, 4, s) : 0;

    for (size_t i = 0; i < 8; i++)
        f->dim[i] = one ? int_at(head, 40 + 2 * i, 2, s) : int_at(head, 16 + 8 * i, 8, s);
    f->datatype = (int)int_at(head, one ? 70 : 12, 2, s);
    f->bitpix = (int)int_at(head, one ? 72 : 14, 2, s);
    if (one) /* a whole number in a float */
        f->offset =
            offset >= 0 && offset < 0x1p40 && offset == floor(offset) ? (int64_t)offset : -1;
    else
        f->offset = int_at(head, 168, 8, s);
    for (size_t i = 0; i < 8; i++)
        f->pixdim[i] = one ? real_at(head, 76 + 4 * i, 4, s) : real_at(head, 104 + 8 * i, 8, s);
    f->has_spacing = f->pixdim[1] != 0 || f->pixdim[2] != 0 || f->pixdim[3] != 0;
    f->slope = one ? real_at(head, 112, 4, s) : real_at(head, 176, 8, s);
    f->inter = one ? real_at(head, 116, 4, s) : real_at(head, 184, 8, s);
    memcpy(f->descrip, head + (one ? 148 : 240), sizeof f->descrip - 1);
    f->descrip[sizeof f->descrip - 1] = '\0';
    take_forms(head, f);
}

static enum fbp_type element_type(int datatype)
{
    switch (datatype) {
    case FBP_NIFTI_UINT8:
        return FBP_U8;
    case FBP_NIFTI_INT8:
        return FBP_I8;
    case FBP_NIFTI_UINT16:
        return FBP_U16;
    case FBP_NIFTI_INT16:
        return FBP_I16;
    case FBP_NIFTI_UINT32:
        return FBP_U32;
    case FBP_NIFTI_INT32:
        return FBP_I32;
    case FBP_NIFTI_FLOAT32:
        return FBP_F32;
    case FBP_NIFTI_FLOAT64:
        return FBP_F64;
    default:
        return FBP_TYPE_NONE;
    }
}

/* The name of a type in the standard, for messages. */
static const char *type_name(int datatype)
{
    static const struct {
        int type;
        const char *name;
    } names[] = {{0, "UNKNOWN"},       {1, "BINARY"},    {32, "COMPLEX64"},  {128, "RGB24"},
                 {1024, "INT64"},      {1280, "UINT64"}, {1536, "FLOAT128"}, {1792, "COMPLEX128"},
                 {2048, "COMPLEX256"}, {2304, "RGBA32"}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].type == datatype)
            return names[i].name;
    return "**ILLEGAL**";
}

static fbp_status check_facts(const char *path, const struct facts *f)
{
    const enum fbp_type type = element_type(f->datatype);
    const int64_t least = !f->single ? 0 : f->version == 1 ? N1_LEAST_OFFSET : N2_LEAST_OFFSET;

    if (f->dim[0] < 1 || f->dim[0] > 7)
        return fbp_fail(FBP_ERR_INVALID, "%s: NIfTI header: %lld axes: the file is damaged", path,
                        (long long)f->dim[0]);
    for (int64_t i = 1; i <= f->dim[0]; i++)
        if (f->dim[i] < 1)
            return fbp_fail(FBP_ERR_INVALID,
                            "%s: NIfTI header: axis %lld has %lld samples: the file is damaged",
                            path, (long long)i, (long long)f->dim[i]);
    for (int64_t i = 5; i <= f->dim[0]; i++)
        if (f->dim[i] != 1)
            return fbp_fail(
                FBP_ERR_UNSUPPORTED,
                "%s: NIfTI: %lld samples along axis %lld: three axes of single values "
                "are needed, or four of a series: save one volume, or one component, by itself",
                path, (long long)f->dim[i], (long long)i);
    if (f->dim[0] < 2)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: NIfTI of one axis: two or three axes are needed: save it as a picture "
                        "or a volume",
                        path);
    if (type == FBP_TYPE_NONE)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: NIfTI: elements of type %d (%s) are not supported: save it as int8 to "
                        "int32, uint8 to uint32, float32 or float64",
                        path, f->datatype, type_name(f->datatype));
    if (f->bitpix != 8 * (int)fbp_type_size(type))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: NIfTI header: %d bits do not fit elements of type %s: the file is "
                        "damaged",
                        path, f->bitpix, fbp_type_name(type));
    if (f->offset < least)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: NIfTI header: vox_offset puts the samples before byte %lld: the file "
                        "is damaged",
                        path, (long long)least);
    return FBP_OK;
}

/* Steps and origin from the q-form: the quaternion (a, b, c, d) of length 1 as a rotation, times
 * the distances d; f->pixdim[0] < 0 mirrors the third axis. */
static void take_qform(const struct facts *f, const double side[3], double m[3][4])
{
    const double *q = f->quatern, square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2];
    const double scale = 1 - square < 1e-7 ? 1 / sqrt(square) : 1; /* half a turn: a is 0 */
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

/* Steps and origin of the s-form, which programs prefer, else of the q-form, else of the distances
 * alone.  Missing or invalid distances are 1. */
static void take_matrix(const struct facts *f, double m[3][4])
{
    double side[3];

    for (int i = 0; i < 3; i++) {
        side[i] = i < f->dim[0] ? f->pixdim[i + 1] : 1;
        side[i] = side[i] != 0 && isfinite(side[i]) ? side[i] : 1;
        for (int k = 0; k < 4; k++)
            m[i][k] = f->sform > 0 ? f->srow[i][k] : i == k ? side[i] : 0;
    }
    if (f->sform <= 0 && f->qform > 0)
        take_qform(f, side, m);
}

static fbp_status take_place(struct fbp_source *src, const struct facts *f, size_t n)
{
    const int units = f->units & 7;
    const double mm = units == FBP_NIFTI_METER ? 1e3 : units == FBP_NIFTI_MICRON ? 1e-3 : 1;
    double m[3][4], step[3][3], origin[3];

    take_matrix(f, m);
    for (size_t c = 0; c < 3; c++) {
        origin[c] = mm * m[c][3];
        for (size_t i = 0; i < 3; i++)
            step[i][c] = mm * m[c][i];
    }
    return fbp_axes_take(src, n, (const double(*)[3])step, origin);
}

/* A unit that a sink of ours has noted. */
static void take_unit(struct fbp_source *src, const struct facts *f)
{
    const size_t n = strlen(FBP_NIFTI_UNIT);

    if (strncmp(f->descrip, FBP_NIFTI_UNIT, n) == 0)
        snprintf(src->info.unit, sizeof src->info.unit, "%s", f->descrip + n);
}

static fbp_status take_image(struct fbp_source *src, const struct facts *f)
{
    const double slope = f->slope, inter = f->inter;

    for (size_t i = 0; i < 3; i++) {
        src->info.n[i] = (int64_t)i < f->dim[0] ? (size_t)f->dim[i + 1] : 1;
        src->info.spacing_mm[i] = 1;
    }
    if (f->dim[0] >= 4)
        FBP_TRY(fbp_frames_take(src->path, &src->info, (uint64_t)f->dim[4]));
    src->info.type = element_type(f->datatype);
    src->info.big_endian = f->swapped != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    take_unit(src, f);
    if (isfinite(slope) && isfinite(inter) && slope != 0 && (slope != 1 || inter != 0)) {
        src->info.scale = slope;
        src->info.offset = inter;
    }
    return f->has_spacing ? take_place(src, f, f->dim[0] < 3 ? 2 : 3) : FBP_OK;
}

static fbp_status place_samples(struct fbp_source *src, const struct facts *f, bool packed)
{
    const off_t end = lseek(src->fd, 0, SEEK_END);
    uint64_t bytes = 0;

    src->offset = packed ? 0 : (uint64_t)f->offset;
    if (!packed)
        return FBP_OK;
    if (src->growing)
        return fbp_fail(
            FBP_ERR_UNSUPPORTED,
            "%s: its samples are compressed: a compressed file cannot be followed while "
            "it grows: write it without compression",
            src->path);
    FBP_TRY(fbp_array_bytes(src->path, &src->info, &bytes));
    FBP_TRY(fbp_inflate_check(src, 0, end < 0 ? 0 : (uint64_t)end, (uint64_t)f->offset, bytes));
    return fbp_inflate_open(src, (uint64_t)f->offset, bytes);
}

static fbp_status open_nifti(struct fbp_source *src)
{
    unsigned char head[N2_BYTES];
    struct facts f = {0};
    bool packed = false;
    size_t n = 0;

    if (fbp_has_extension(src->path, ".img .img.gz"))
        FBP_TRY(open_sibling(src, ".hdr", &packed));
    FBP_TRY(read_head(src, head, &n, &packed));
    if (!recognise(head, n, &f))
        return fbp_fail(FBP_ERR_INVALID, "%s: not a NIfTI-1 or NIfTI-2 header%s", src->path,
                        n >= 4 && (int_at(head, 0, 4, false) == N1_BYTES ||
                                   int_at(head, 0, 4, true) == N1_BYTES)
                            ? ", but one of Analyze 7.5, or damaged: save it as NIfTI"
                            : ", whatever its name says");
    take_facts(head, &f);
    FBP_TRY(check_facts(src->path, &f));
    FBP_TRY(take_image(src, &f));
    if (!f.single)
        FBP_TRY(open_sibling(src, ".img", &packed));
    return place_samples(src, &f, packed);
}

const struct fbp_format fbp_format_nifti = {
    .name = "nifti",
    .title = "NIfTI",
    .extensions = ".nii .nii.gz .hdr",
    .detect = detect,
    .open = open_nifti,
    .files = fbp_nifti_files,
};
