#include "array/file/bytes.h"
#include "array/file/describe.h"
#include "array/file/format.h"
#include "array/file/growing.h"
#include "array/file/member.h"
#include "array/file/values.h"
#include "array/stack.h"

#include "base/mem.h"
#include "base/stop.h"
#include "base/text.h"
#include "geometry/ranges.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const struct {
    const char *name;
    size_t size;
} types[] = {
    [FBP_TYPE_NONE] = {"none", 0}, [FBP_U8] = {"uint8", 1},    [FBP_I8] = {"int8", 1},
    [FBP_U16] = {"uint16", 2},     [FBP_I16] = {"int16", 2},   [FBP_U32] = {"uint32", 4},
    [FBP_I32] = {"int32", 4},      [FBP_F32] = {"float32", 4}, [FBP_F64] = {"float64", 8},
};

enum { N_TYPES = sizeof types / sizeof *types };

static const struct fbp_format *const formats[] = {
    &fbp_format_mha,   &fbp_format_npy,  &fbp_format_tiff,     &fbp_format_png, &fbp_format_nrrd,
    &fbp_format_nifti, &fbp_format_hdf5, &fbp_format_rabbitct, &fbp_format_mat};

enum { N_FORMATS = sizeof formats / sizeof *formats, HEAD_BYTES = 4096, CHUNK_BYTES = 1 << 16 };

const struct fbp_format *fbp_source_format(size_t i)
{
    return i < N_FORMATS ? formats[i] : NULL;
}

size_t fbp_type_size(enum fbp_type type)
{
    return (size_t)type < N_TYPES ? types[type].size : 0;
}

const char *fbp_type_name(enum fbp_type type)
{
    return (size_t)type < N_TYPES ? types[type].name : "none";
}

enum fbp_type fbp_type_from_name(const char *name)
{
    for (size_t i = 1; name && i < N_TYPES; i++)
        if (strcmp(types[i].name, name) == 0)
            return (enum fbp_type)i;
    return FBP_TYPE_NONE;
}

bool fbp_has_extension(const char *path, const char *extensions)
{
    const size_t length = strlen(path);

    for (const char *p = extensions; *p;) {
        const size_t n = strcspn(p, " ");
        if (length >= n && strncasecmp(path + length - n, p, n) == 0)
            return true;
        p += n + strspn(p + n, " ");
    }
    return false;
}

static const struct fbp_format *by_content(const char *path, const unsigned char *head, size_t n)
{
    for (size_t i = 0; i < N_FORMATS; i++)
        if (formats[i]->detect(path, head, n))
            return formats[i];
    return NULL;
}

const struct fbp_format *fbp_format_of_name(const char *path)
{
    for (size_t i = 0; i < N_FORMATS; i++)
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): no entry is NULL */
        if (fbp_has_extension(path, formats[i]->extensions))
            return formats[i];
    return NULL;
}

static fbp_status unknown_format(const char *path)
{
    char known[256] = "";

    for (size_t i = 0; i < N_FORMATS; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? " " : "",
                 formats[i]->extensions); // NOLINT(clang-analyzer-core.NullDereference): never
    return fbp_fail(
        FBP_ERR_UNSUPPORTED,
        "%s: not a known array format (known: %s): convert it, or describe a headerless "
        "file with \"raw\": {\"type\", \"shape\"} in the scan file",
        path, known);
}

static fbp_status open_raw(struct fbp_source *src, const struct fbp_raw *raw, uint64_t size)
{
    uint64_t bytes = 0, total = 0;

    src->info.type = raw->type;
    src->info.big_endian = raw->big_endian;
    src->info.row_order = FBP_ROWS_BOTTOM_UP;
    memcpy(src->info.n, raw->n, sizeof raw->n);
    snprintf(src->info.format, sizeof src->info.format, "raw");
    src->offset = raw->header_bytes;
    if (fbp_type_size(raw->type) == 0)
        return fbp_fail(FBP_ERR_INVALID, "%s: raw: no such element type", src->path);
    if (raw->n[2] == 0 && size > raw->header_bytes) {
        const uint64_t samples = (size - raw->header_bytes) / fbp_type_size(raw->type);
        const uint64_t row = raw->n[0] ? samples / raw->n[0] : 0;
        src->info.n[2] = raw->n[1] ? (size_t)(row / raw->n[1]) : 0;
    }
    FBP_TRY(fbp_array_bytes(src->path, &src->info, &bytes));
    if (__builtin_add_overflow(bytes, raw->header_bytes, &total) || size > total ||
        (size < total && !src->growing))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: the file has %llu bytes, but raw describes %llu + %zu x %zu x %zu "
                        "%s = %llu: correct type, shape or header_bytes",
                        src->path, (unsigned long long)size, (unsigned long long)raw->header_bytes,
                        src->info.n[2], raw->n[1], raw->n[0], fbp_type_name(raw->type),
                        (unsigned long long)total);
    return FBP_OK;
}

/* The samples must be there before anything is computed from them. */
static fbp_status check_size(const struct fbp_source *src)
{
    uint64_t bytes = 0, end = 0;
    off_t size;

    FBP_TRY(fbp_array_bytes(src->path, &src->info, &bytes));
    if (src->read || src->read_block || src->growing)
        return FBP_OK;
    size = lseek(src->fd, 0, SEEK_END);
    if (__builtin_add_overflow(bytes, src->offset, &end) || size < 0 || (uint64_t)size < end)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: the file with the samples has %lld bytes, but the header asks for "
                        "%llu: it is truncated, copy it again",
                        src->path, (long long)size, (unsigned long long)end);
    return FBP_OK;
}

/* A headerless file of ours has its description beside it; else out->type stays as it is. */
static fbp_status raw_beside(const char *path, struct fbp_raw *out)
{
    struct fbp_array_info info = {.type = FBP_TYPE_NONE};
    bool ours = false;

    FBP_TRY(fbp_described_beside(path, &info, &ours));
    if (!ours)
        return FBP_OK;
    *out = (struct fbp_raw){.type = info.type};
    memcpy(out->n, info.n, sizeof out->n);
    return FBP_OK;
}

static fbp_status open_any(struct fbp_source *src, const struct fbp_raw *raw, uint64_t size)
{
    unsigned char head[HEAD_BYTES];
    const size_t n = size < sizeof head ? (size_t)size : sizeof head;
    const struct fbp_format *format;
    struct fbp_raw beside = {.type = FBP_TYPE_NONE};
    bool ours;

    FBP_TRY(fbp_read_at(src->fd, src->path, 0, head, n));
    format = by_content(src->file, head, n);
    if (src->member && !(format && format->has_members))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: %s is one array, without any inside it: leave \":%s\" out", src->path,
                        src->file, src->member);
    if (!format && (!raw || raw->type == FBP_TYPE_NONE)) {
        FBP_TRY(raw_beside(src->file, &beside));
        raw = beside.type == FBP_TYPE_NONE ? raw : &beside;
    }
    if (!format && raw && raw->type != FBP_TYPE_NONE) {
        FBP_TRY(open_raw(src, raw, size));
        return src->growing ? FBP_OK : fbp_described_beside(src->file, &src->info, &ours);
    }
    if (!format)
        format = fbp_format_of_name(src->file);
    if (!format)
        return unknown_format(src->path);
    snprintf(src->info.format, sizeof src->info.format, "%s", format->name);
    src->info.row_order = FBP_ROWS_BOTTOM_UP;
    FBP_TRY(format->open(src));
    return check_size(src);
}

/* A headerless file that is to be followed need not be there yet. */
static bool is_to_come(const struct fbp_source *src, const struct fbp_raw *raw)
{
    return src->growing && raw && raw->type != FBP_TYPE_NONE && access(src->path, F_OK) != 0 &&
           errno == ENOENT;
}

static fbp_status open_file(struct fbp_source *src, const struct fbp_raw *raw)
{
    uint64_t size = 0;

    FBP_TRY(fbp_inputs_add(&src->inputs, src->path));
    if (!src->growing) /* before anything is read of it */
        FBP_TRY(fbp_watch_add(&src->watch, src->path));
    if (fbp_stack_is(src->path))
        return fbp_stack_open(src, raw);
    if (is_to_come(src, raw))
        return open_raw(src, raw, 0);
    FBP_TRY(fbp_member_split(src->path, &src->file, &src->member));
    FBP_TRY(fbp_open_file(src->file, &src->fd, &size));
    return open_any(src, raw, size);
}

fbp_status fbp_source_open_as(fbp_source **out, const char *path, const struct fbp_raw *raw,
                              bool growing)
{
    fbp_source *src = NULL;
    fbp_status st;

    fbp_message_clear();
    *out = NULL;
    if (raw)
        FBP_TRY(fbp_because(path, fbp_check_raw(raw)));
    FBP_TRY(fbp_calloc((void **)&src, 1, sizeof *src, "a source"));
    src->fd = -1;
    src->growing = growing;
    src->path = fbp_strdup(path);
    if (!src->path) {
        st = fbp_fail_nomem(strlen(path), "a path");
        goto fail;
    }
    FBP_TRY_GOTO(open_file(src, raw));
    for (size_t i = 1; i < src->inputs.n && !growing; i++) /* to which the first has led */
        FBP_TRY_GOTO(fbp_watch_add(&src->watch, src->inputs.names[i]));
    src->info.struct_size = sizeof src->info;
    *out = src;
    return FBP_OK;
fail:
    fbp_source_close(&src);
    return st;
}

fbp_status fbp_source_open(fbp_source **out, const char *path, const struct fbp_raw *raw)
{
    return fbp_source_open_as(out, path, raw, false);
}

bool fbp_source_in_order(const fbp_source *src)
{
    return src->in_order || src->growing;
}

uint64_t fbp_source_bytes(const fbp_source *src, int n)
{
    return src->held_bytes + (uint64_t)n * src->reader_bytes;
}

bool fbp_source_unpacks(const fbp_source *src)
{
    return src->unpacks && !fbp_source_in_order(src);
}

const struct fbp_array_info *fbp_source_info(const fbp_source *src)
{
    return &src->info;
}

void fbp_source_close(fbp_source **src)
{
    if (!*src)
        return;
    fbp_follow_destroy(&(*src)->follow);
    if ((*src)->close)
        (*src)->close(*src);
    if ((*src)->fd >= 0)
        close((*src)->fd);
    fbp_inputs_clear(&(*src)->inputs);
    fbp_watch_clear(&(*src)->watch);
    free((*src)->path);
    free((*src)->file);
    free((*src)->member);
    free(*src);
    *src = NULL;
}

/* `count` samples in one run, `first` samples behind the start. */
static fbp_status read_run(fbp_source *src, uint64_t first, size_t count, float *out)
{
    return fbp_read_values(src->fd, src->path, src->offset + first * fbp_type_size(src->info.type),
                           &src->info, count, out);
}

/* Rows of one slice of a format that reads them itself. */
static fbp_status read_rows(fbp_source *src, size_t slice, size_t row0, size_t n_rows, float *out)
{
    const size_t nx = src->info.n[0], row_bytes = nx * fbp_type_size(src->info.type);
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): an opened file has a type */
    const size_t at_once = row_bytes < CHUNK_BYTES ? CHUNK_BYTES / row_bytes : 1;
    const bool past_caches = fbp_past_caches(n_rows * nx);
    fbp_status st = FBP_OK;
    void *scratch = NULL;

    FBP_TRY(fbp_alloc(&scratch, at_once * row_bytes, "rows of samples"));
    for (size_t r = 0; r < n_rows && st == FBP_OK; r += at_once) {
        const size_t n = n_rows - r < at_once ? n_rows - r : at_once;
        st = src->read(src, slice, row0 + r, n, scratch);
        if (st == FBP_OK)
            fbp_to_values(&src->info, scratch, n * nx, past_caches, out + r * nx);
    }
    fbp_free(scratch);
    return st;
}

/* Is it in the volume, and there already? */
static fbp_status check_range(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                              size_t n_rows)
{
    const size_t *n = src->info.n;

    if (slice0 > n[2] || n_slices > n[2] - slice0 || row0 > n[1] || n_rows > n[1] - row0)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: slices [%zu, +%zu), rows [%zu, +%zu) are not inside %zu slices of "
                        "%zu rows",
                        src->path, slice0, n_slices, row0, n_rows, n[2], n[1]);
    if (n_slices == 0 || n_rows == 0)
        return FBP_OK;
    FBP_TRY(fbp_go_on());
    return fbp_source_await(src, slice0 + n_slices, NULL, NULL, NULL);
}

fbp_status fbp_source_read_as_is(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                                 size_t n_rows, void *out)
{
    const size_t *n = src->info.n, size = fbp_type_size(src->info.type);
    const bool whole = n_rows == n[1] && !src->read; /* slices in one run */
    const size_t runs = n_rows == 0 ? 0 : whole ? n_slices > 0 : n_slices;
    const size_t samples = (whole ? n_slices : 1) * n_rows * n[0];
    char *to = out;

    fbp_message_clear();
    FBP_TRY(check_range(src, slice0, n_slices, row0, n_rows));
    if (src->read_block && runs)
        return src->read_block(src, slice0, n_slices, row0, n_rows, false, out);
    for (size_t i = 0; i < runs; i++, to += samples * size) {
        const uint64_t first = ((uint64_t)(slice0 + i) * n[1] + row0) * n[0];
        if (src->read) {
            FBP_TRY(src->read(src, slice0 + i, row0, n_rows, to));
            continue;
        }
        FBP_TRY(fbp_read_numbers(src->fd, src->path, src->offset + first * size, &src->info,
                                 samples, to));
    }
    return FBP_OK;
}

fbp_status fbp_source_read(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                           size_t n_rows, float *out)
{
    const size_t *n = src->info.n;

    fbp_message_clear();
    if (src->info.type == FBP_F32 && src->info.scale == 0)
        return fbp_source_read_as_is(src, slice0, n_slices, row0, n_rows, out);
    FBP_TRY(check_range(src, slice0, n_slices, row0, n_rows));
    if (n_slices == 0 || n_rows == 0)
        return FBP_OK;
    if (src->read_block)
        return src->read_block(src, slice0, n_slices, row0, n_rows, true, out);
    if (!src->read && n_rows == n[1])
        return read_run(src, (uint64_t)slice0 * n[1] * n[0], n_slices * n[1] * n[0], out);
    for (size_t i = 0; i < n_slices; i++, out += n_rows * n[0]) {
        if (src->read)
            FBP_TRY(read_rows(src, slice0 + i, row0, n_rows, out));
        else
            FBP_TRY(
                read_run(src, ((uint64_t)(slice0 + i) * n[1] + row0) * n[0], n_rows * n[0], out));
    }
    return FBP_OK;
}
