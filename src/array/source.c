/* Opening sources: by content, by name, by a description; of one file or of many. */
#include "array/array.h"
#include "array/file/bytes.h"
#include "array/file/describe.h"
#include "array/file/growing.h"
#include "array/file/member.h"
#include "array/formats.h"
#include "array/stack.h"
#include "array/stack_names.h"

#include "base/base.h"
#include "base/text.h"
#include "geometry/ranges.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { HEAD_BYTES = 4096 };

static const struct fbp_format *by_content(const char *path, const unsigned char *head, size_t n)
{
    const struct fbp_format *f;

    for (size_t i = 0; (f = fbp_format_at(i)); i++)
        if (f->detect && f->detect(path, head, n))
            return f;
    return NULL;
}

static fbp_status unknown_format(const char *path)
{
    const struct fbp_format *f;
    char known[256] = "";

    for (size_t i = 0; (f = fbp_format_at(i)); i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s",
                 *known && *f->extensions ? " " : "", f->extensions);
    return fbp_fail(
        FBP_ERR_UNSUPPORTED,
        "%s: not a known array format (known: %s): convert it, or describe a headerless "
        "file with \"raw\": {\"type\", \"shape\"} in the scan file",
        path, known);
}

static fbp_status open_raw(struct fbp_source *src, const struct fbp_raw *raw, uint64_t size)
{
    uint64_t bytes = 0, total = 0;

    src->headerless = true;
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

/* One picture [row][column] as views of one row: the same samples, by other names. */
static fbp_status take_table(struct fbp_source *src)
{
    size_t *n = src->info.n;

    if (n[2] != 1 || src->read_block || (src->read && !src->complex) || src->growing)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: only one plain picture, [view][column], is taken for the views of one "
                        "row: leave \"%s\" out",
                        src->path, FBP_SINOGRAM);
    n[2] = n[1];
    n[1] = 1;
    return FBP_OK;
}

static fbp_status open_headerless(struct fbp_source *src, const struct fbp_raw *raw, uint64_t size,
                                  bool table)
{
    bool ours;

    FBP_TRY(open_raw(src, raw, size));
    if (table)
        FBP_TRY(take_table(src));
    return src->growing ? FBP_OK : fbp_described_beside(src->file, &src->info, &ours);
}

static fbp_status open_as(struct fbp_source *src, const struct fbp_format *format)
{
    snprintf(src->info.format, sizeof src->info.format, "%s", format->name);
    src->info.row_order = FBP_ROWS_BOTTOM_UP;
    return format->open(src);
}

static fbp_status open_any(struct fbp_source *src, const struct fbp_raw *raw, uint64_t size)
{
    unsigned char head[HEAD_BYTES];
    const size_t n = size < sizeof head ? (size_t)size : sizeof head;
    const struct fbp_format *format;
    struct fbp_raw beside = {.type = FBP_TYPE_NONE};

    FBP_TRY(fbp_read_at(src->fd, src->path, 0, head, n));
    format = by_content(src->file, head, n);
    const bool table = src->member && strcmp(src->member, FBP_SINOGRAM) == 0;
    if (src->member && !table && !(format && format->has_members))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: %s is one array, without any inside it: leave \":%s\" out", src->path,
                        src->file, src->member);
    if (!format && (!raw || raw->type == FBP_TYPE_NONE)) {
        FBP_TRY(raw_beside(src->file, &beside));
        raw = beside.type == FBP_TYPE_NONE ? raw : &beside;
    }
    if (!format && raw && raw->type != FBP_TYPE_NONE)
        return open_headerless(src, raw, size, table);
    if (!format)
        format = fbp_format_of_name(src->file);
    if (!format)
        return unknown_format(src->path);
    FBP_TRY(open_as(src, format));
    if (table && !format->has_members)
        FBP_TRY(take_table(src));
    return check_size(src);
}

/* A headerless file that is to be followed need not be there yet. */
static bool is_to_come(const struct fbp_source *src, const struct fbp_raw *raw)
{
    return src->growing && raw && raw->type != FBP_TYPE_NONE && access(src->path, F_OK) != 0 &&
           errno == ENOENT;
}

/* An array that is a folder, as a whole. */
static fbp_status open_folder(struct fbp_source *src, const struct fbp_format *format)
{
    uint64_t bytes;

    if (src->member)
        return fbp_fail(FBP_ERR_INVALID, "%s: an array in a folder is named as a file in it: %s/%s",
                        src->path, src->file, src->member);
    FBP_TRY(open_as(src, format));
    return fbp_array_bytes(src->path, &src->info, &bytes);
}

static fbp_status open_file(struct fbp_source *src, const struct fbp_raw *raw)
{
    const struct fbp_format *folder;
    uint64_t size = 0;

    FBP_TRY(fbp_inputs_add(&src->inputs, src->path));
    if (!src->growing) /* before anything is read of it */
        FBP_TRY(fbp_watch_array(&src->watch, src->path));
    if (fbp_stack_is(src->path))
        return fbp_stack_open(src, raw, fbp_source_open);
    if (is_to_come(src, raw))
        return open_raw(src, raw, 0);
    FBP_TRY(fbp_member_split(src->path, &src->file, &src->member));
    folder = fbp_format_of_folder(src->file);
    if (folder)
        return open_folder(src, folder);
    FBP_TRY(fbp_open_file(src->file, &src->fd, &size));
    return open_any(src, raw, size);
}

fbp_status fbp_source_open_as(fbp_source **out, const char *path, const struct fbp_raw *raw,
                              enum fbp_source_use use)
{
    fbp_source *src = NULL;
    fbp_status st;

    fbp_message_clear();
    *out = NULL;
    if (raw)
        FBP_TRY(fbp_because(path, fbp_check_raw(raw)));
    FBP_TRY(fbp_calloc((void **)&src, 1, sizeof *src, "a source"));
    src->fd = -1;
    src->growing = use == FBP_SOURCE_GROWING;
    src->list = use == FBP_SOURCE_LIST;
    src->imaginary = use == FBP_SOURCE_IMAGINARY;
    src->path = fbp_strdup(path);
    if (!src->path) {
        st = fbp_fail_nomem(strlen(path), "a path");
        goto fail;
    }
    FBP_TRY_GOTO(open_file(src, raw));
    for (size_t i = 1; i < src->inputs.n && !src->growing; i++) /* to which the first has led */
        FBP_TRY_GOTO(fbp_watch_array(&src->watch, src->inputs.names[i]));
    src->info.struct_size = sizeof src->info;
    if (use == FBP_SOURCE_IMAGINARY && !src->complex)
        FBP_TRY_GOTO(fbp_fail(FBP_ERR_UNSUPPORTED,
                              "%s: its samples are real, but a phase or an FFT takes complex ones "
                              "(MAT, NPY, BES3T): leave that step out, or give both channels",
                              src->path));
    *out = src;
    return FBP_OK;
fail:
    fbp_source_close(&src);
    return st;
}

fbp_status fbp_source_open(fbp_source **out, const char *path, const struct fbp_raw *raw)
{
    FBP_GIVEN(out, path);
    return fbp_source_open_as(out, path, raw, FBP_SOURCE_WHOLE);
}

fbp_status fbp_source_follow(fbp_source **out, const char *path, const struct fbp_raw *raw,
                             double timeout_s)
{
    FBP_GIVEN(out, path);
    fbp_status st;

    FBP_TRY(fbp_source_open_as(out, path, raw, FBP_SOURCE_GROWING));
    st = fbp_follow_create(&(*out)->follow, *out, timeout_s);
    if (st != FBP_OK)
        fbp_source_close(out);
    return st;
}
