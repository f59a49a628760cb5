/* Opens sources, the inputs for views and volumes: fbp_source_open() and, for scans that are still
 * being measured, fbp_source_follow() (both public) choose the format by content, by the caller's
 * description of a headerless file, or by name. Also contains fbp_source_wrap(), by which other
 * files make sources that wrap another source, and two such sources: fbp_source_hold() keeps
 * decompressed views in memory, fbp_source_transpose() reads sinograms as views. source_stack.c
 * opens one file per view or slice, source_caller.c memory of the caller; array/file/source_read.c
 * reads samples. Used by: bench/, cli/, analysis/, array/, pipeline/, prep/, scan/. */
#include "array/array.h"
#include "array/file/bytes.h"
#include "array/file/format.h"
#include "array/names.h"
#include "base/system.h"
#include "geometry/ranges.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Set size and type of a source from the caller's description of a headerless file; fail if
 * they do not match the file's `size` bytes. */
static fbp_status take_raw(struct fbp_source *src, const struct fbp_raw *raw, uint64_t size)
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
        return FBP_INVALID(
            "%s: raw: unknown element type; use int8 to int32, uint8 to uint32, float32 or float64",
            src->path);
    if (raw->n[2] == 0 && size > raw->header_bytes) {
        const uint64_t samples = (size - raw->header_bytes) / fbp_type_size(raw->type);
        const uint64_t row = raw->n[0] ? samples / raw->n[0] : 0;
        src->info.n[2] = raw->n[1] ? (size_t)(row / raw->n[1]) : 0;
    }
    FBP_TRY(fbp_array_bytes(src->path, &src->info, &bytes));
    if (__builtin_add_overflow(bytes, raw->header_bytes, &total) || size > total ||
        (size < total && !src->growing))
        return FBP_INVALID(
            "%s: the file has %llu bytes, but \"raw\" describes %llu + %zu x %zu x %zu "
            "%s = %llu; correct type, shape or header_bytes",
            src->path, (unsigned long long)size, (unsigned long long)raw->header_bytes,
            src->info.n[2], raw->n[1], raw->n[0], fbp_type_name(raw->type),
            (unsigned long long)total);
    return FBP_OK;
}

/* Use the rows of one image [view][column] as views of one row each, for names that end in
 * "?sinogram". */
static fbp_status take_table(struct fbp_source *src)
{
    size_t *n = src->info.n;

    if (n[2] != 1 || src->read_block || (src->read && !src->complex) || src->growing)
        return FBP_UNSUPPORTED(
            "%s: \"?sinogram\" needs one complete, uncompressed image [view][column], "
            "whose rows become views; omit \"%s\"",
            src->path, FBP_SINOGRAM);
    n[2] = n[1];
    n[1] = 1;
    return FBP_OK;
}

static fbp_status open_as(struct fbp_source *src, const struct fbp_format *format)
{
    snprintf(src->info.format, sizeof src->info.format, "%s", format->name);
    src->info.row_order = FBP_ROWS_BOTTOM_UP;
    if (src->growing && format->not_growing)
        return FBP_UNSUPPORTED("%s: %s", src->path, format->not_growing);
    return format->open(src);
}

/* Open src->path. If it names a single file, its format is found by its contents, by the caller's
 * description or NAME.json beside it, or by its name. */
static fbp_status open_path(struct fbp_source *src, const struct fbp_raw *raw)
{
    enum { HEAD_BYTES = 4096 };
    unsigned char head[HEAD_BYTES];
    const struct fbp_format *format = NULL, *f;
    struct fbp_raw beside = {.type = FBP_TYPE_NONE};
    uint64_t size = 0, bytes = 0, end = 0;
    bool ours = false;

    FBP_TRY(fbp_inputs_add(&src->inputs, src->path));
    if (!src->growing) /* record the state before anything is read */
        FBP_TRY(fbp_watch_array(&src->watch, src->path));
    if (fbp_names_many_files(src->path))
        return fbp_stack_open(src, raw);
    /* A file without a header need not exist yet if the scan is still being measured. */
    if (src->growing && raw && raw->type != FBP_TYPE_NONE && access(src->path, F_OK) != 0 &&
        errno == ENOENT)
        return take_raw(src, raw, 0);
    FBP_TRY(fbp_member_split(src->path, &src->file, &src->member));

    format = fbp_format_of_folder(src->file);
    if (format) {
        if (src->member)
            return FBP_INVALID("%s: to name an array in this folder, give its path %s/%s",
                               src->path, src->file, src->member);
        FBP_TRY(open_as(src, format));
        return fbp_array_bytes(src->path, &src->info, &bytes);
    }

    FBP_TRY(fbp_open_file(src->file, &src->fd, &size));
    const size_t n = size < sizeof head ? (size_t)size : sizeof head;
    FBP_TRY(fbp_read_at(src->fd, src->path, 0, head, n));
    for (size_t i = 0; !format && (f = fbp_format_at(i)); i++)
        if (f->detect && f->detect(src->file, head, n))
            format = f;
    const bool table = src->member && strcmp(src->member, FBP_SINOGRAM) == 0;
    if (src->member && !table && !(format && format->has_members))
        return FBP_INVALID(
            "%s: %s is not a file of named arrays (such as HDF5 and MAT files); omit \":%s\"",
            src->path, src->file, src->member);

    if (!format && (!raw || raw->type == FBP_TYPE_NONE)) { /* fbp's files describe themselves */
        struct fbp_array_info info = {.type = FBP_TYPE_NONE};

        FBP_TRY(fbp_parse_description_beside(src->file, &info, &ours));
        if (ours) {
            beside.type = info.type;
            memcpy(beside.n, info.n, sizeof beside.n);
        }
        raw = beside.type == FBP_TYPE_NONE ? raw : &beside;
    }
    if (!format && raw && raw->type != FBP_TYPE_NONE) {
        FBP_TRY(take_raw(src, raw, size));
        if (table)
            FBP_TRY(take_table(src));
        return src->growing ? FBP_OK : fbp_parse_description_beside(src->file, &src->info, &ours);
    }

    if (!format)
        format = fbp_format_of_name(src->file);
    if (!format) {
        char known[256] = "";

        for (size_t i = 0; (f = fbp_format_at(i)); i++)
            snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s",
                     *known && *f->extensions ? " " : "", f->extensions);
        return FBP_UNSUPPORTED(
            "%s: unknown array format (supported: %s); convert the file, or describe a "
            "headerless file by \"raw\": {\"type\", \"shape\"} in the scan file",
            src->path, known);
    }
    FBP_TRY(open_as(src, format));
    if (table && !format->has_members)
        FBP_TRY(take_table(src));

    /* The file must contain all samples before anything is computed from them. */
    FBP_TRY(fbp_array_bytes(src->path, &src->info, &bytes));
    if (src->read || src->read_block || src->growing)
        return FBP_OK;
    const off_t has = lseek(src->fd, 0, SEEK_END);
    if (__builtin_add_overflow(bytes, src->offset, &end) || has < 0 || (uint64_t)has < end)
        return FBP_INVALID("%s: the file of the samples has %lld bytes, but the header describes "
                           "%llu; the file is truncated, copy it again",
                           src->path, (long long)has, (unsigned long long)end);
    return FBP_OK;
}

fbp_status fbp_source_open_as(fbp_source **out, const char *path, const struct fbp_raw *raw,
                              enum fbp_source_use use)
{
    fbp_source *src = NULL;
    fbp_status st;

    fbp_message_clear();
    *out = NULL;
    if (raw)
        FBP_TRY(fbp_error_context(path, fbp_check_raw(raw)));
    FBP_TRY(fbp_calloc((void **)&src, 1, sizeof *src, "a source"));
    src->fd = -1;
    src->growing = use == FBP_SOURCE_GROWING;
    src->list = use == FBP_SOURCE_LIST;
    src->imaginary = use == FBP_SOURCE_IMAGINARY;
    FBP_TRY_GOTO(fbp_print_path(&src->path, "%s", path));
    FBP_TRY_GOTO(open_path(src, raw));
    for (size_t i = 1; i < src->inputs.n && !src->growing; i++) /* files named in the header */
        FBP_TRY_GOTO(fbp_watch_array(&src->watch, src->inputs.names[i]));
    src->info.struct_size = sizeof src->info;
    if (use == FBP_SOURCE_IMAGINARY && !src->complex)
        FBP_TRY_GOTO(FBP_UNSUPPORTED(
            "%s: its samples are real, but the preparation steps phase and fft need "
            "complex samples (MAT, NPY, BES3T); omit these steps, or give both channels",
            src->path));
    *out = src;
    return FBP_OK;
fail:
    fbp_source_close(&src);
    return st;
}

fbp_status fbp_source_open(fbp_source **out, const char *path, const struct fbp_raw *raw)
{
    FBP_REQUIRE(out, path);
    return fbp_source_open_as(out, path, raw, FBP_SOURCE_WHOLE);
}

fbp_status fbp_source_follow(fbp_source **out, const char *path, const struct fbp_raw *raw,
                             double timeout_s)
{
    FBP_REQUIRE(out, path);
    fbp_status st;

    FBP_TRY(fbp_source_open_as(out, path, raw, FBP_SOURCE_GROWING));
    st = fbp_follow_create(&(*out)->follow, *out, timeout_s);
    if (st != FBP_OK)
        fbp_source_close(out);
    return st;
}

fbp_status fbp_source_mean(fbp_source *source, double *mean)
{
    const struct fbp_array_info *info = fbp_source_info(source);
    const size_t nc = info->n[0], nr = info->n[1];
    float *row = NULL;
    fbp_status st = FBP_OK;

    FBP_TRY_GOTO(fbp_alloc((void **)&row, nc * sizeof *row, "an image row"));
    memset(mean, 0, nc * nr * sizeof *mean);
    for (size_t k = 0; k < info->n[2]; k++)
        /* in file order, because some files can only be read from the beginning to the end */
        for (size_t i = 0; i < nr; i++) {
            FBP_TRY_GOTO(fbp_source_read(source, k, 1, i, 1, FBP_F32, row));
            for (size_t c = 0; c < nc; c++)
                mean[i * nc + c] += (double)row[c] / (double)info->n[2];
        }
    st = fbp_source_unchanged(source);
fail:
    fbp_free(row);
    return st;
}

void fbp_source_like(fbp_source *src, const fbp_source *below)
{
    src->info = below->info;
    src->info.type = FBP_F32;
    src->info.scale = src->info.offset = 0;
    src->info.big_endian = false;
}

fbp_status fbp_source_wrap_set_up(fbp_source *src, fbp_source *below)
{
    const struct fbp_array_info *info = &below->info;

    src->below = below;
    src->stored_type = below->below ? below->stored_type : info->scale != 0 ? FBP_F32 : info->type;
    src->stored_bytes = below->below ? below->stored_bytes : fbp_hold_bytes(below);
    FBP_TRY(fbp_print_path(&src->path, "%s", below->path));
    return fbp_inputs_add_all(&src->inputs, &below->inputs, 0);
}

fbp_status fbp_source_wrap(fbp_source **out, fbp_source_set_up *set_up, const void *what,
                           fbp_source *below, bool owned)
{
    fbp_source *src = NULL;

    *out = NULL;
    fbp_status st = fbp_calloc((void **)&src, 1, sizeof *src, "a source");
    if (st == FBP_OK) {
        src->fd = -1;
        st = set_up(src, what, below);
    }
    if (st == FBP_OK) {
        src->owns_below = owned;
        *out = src;
        return FBP_OK;
    }
    fbp_source_close(&src);
    if (owned)
        fbp_source_close(&below);
    return st;
}

/* State of fbp_source_hold(). */
struct held {
    pthread_mutex_t lock; /* protects all members below */
    size_t n;             /* number of views in `samples`, from the first on */
    /* [view][row][column] in the sample type of the file, in native byte order */
    char *samples;
    size_t view_bytes;
};

static fbp_status read_held(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                            size_t n_rows, bool as_float, void *out)
{
    const struct held *h = src->state;
    const size_t size = fbp_type_size(src->info.type), nx = src->info.n[0];
    const size_t count = n_rows * nx, to_size = as_float ? sizeof(float) : size;

    FBP_TRY(fbp_hold_fill(src, slice0 + n_slices, NULL, NULL));
    for (size_t k = 0; k < n_slices; k++) {
        const char *from = h->samples + (slice0 + k) * h->view_bytes + row0 * nx * size;
        char *to = (char *)out + k * count * to_size;
        if (as_float)
            fbp_to_values(&src->info, from, count, fbp_past_caches(n_slices * count),
                          (float *)(void *)to);
        else
            memcpy(to, from, count * size);
    }
    return FBP_OK;
}

fbp_status fbp_hold_fill(fbp_source *src, size_t n, fbp_idle_fn *idle, void *user)
{
    static const double idle_s = 0.03;
    double called = -1; /* negative: idle() is called at least once */

    if (src->read_block != read_held)
        return FBP_OK;
    for (size_t has = 0; has < n;) {
        struct held *h = src->state;
        fbp_status st = FBP_OK;

        pthread_mutex_lock(&h->lock);
        if (!h->samples)
            st = fbp_alloc((void **)&h->samples, fbp_hold_bytes(src->below), "unpacked views");
        if (st == FBP_OK && h->n < n) {
            st = fbp_source_read_as_is(src->below, h->n, 1, 0, src->info.n[1],
                                       h->samples + h->n * h->view_bytes);
            h->n += st == FBP_OK;
        }
        has = h->n;
        pthread_mutex_unlock(&h->lock);
        FBP_TRY(st);
        if (!idle || fbp_seconds() - called < idle_s)
            continue;
        if (idle(user, has))
            return fbp_fail(FBP_ERR_CANCELLED, "%s: cancelled", src->path);
        called = fbp_seconds();
    }
    return FBP_OK;
}

static void close_held(fbp_source *src)
{
    struct held *h = src->state;

    pthread_mutex_destroy(&h->lock);
    fbp_free(h->samples);
    free(h);
}

static fbp_status set_up_held(fbp_source *src, const void *what, fbp_source *below)
{
    struct held *h;

    (void)what;
    FBP_TRY(fbp_source_wrap_set_up(src, below));
    FBP_TRY(fbp_calloc((void **)&h, 1, sizeof *h, "a source"));
    pthread_mutex_init(&h->lock, NULL);
    h->view_bytes = below->info.n[0] * below->info.n[1] * fbp_type_size(below->info.type);
    src->info = below->info;
    src->state = h;
    src->close = close_held;
    src->read_block = read_held;
    src->stored_type = below->below ? below->stored_type : below->info.type;
    src->held_bytes = fbp_source_bytes(below, 1) + fbp_hold_bytes(below);
    return FBP_OK;
}

fbp_status fbp_source_hold(fbp_source **out, fbp_source *below, bool owned)
{
    return fbp_source_wrap(out, set_up_held, NULL, below, owned);
}

uint64_t fbp_hold_bytes(const fbp_source *below)
{
    const struct fbp_array_info *info = &below->info;

    return (uint64_t)info->n[0] * info->n[1] * info->n[2] * fbp_type_size(info->type);
}

/* Views [view][row][column] of an array of sinograms [row][view][column]. */

enum { AT_ONCE = 64 }; /* views of a sinogram that are read together */

static fbp_status read_sinograms(fbp_source *src, size_t view0, size_t n_views, size_t row0,
                                 size_t n_rows, bool as_float, void *out)
{
    const size_t row = src->info.n[0] * (as_float ? sizeof(float) : fbp_type_size(src->info.type));
    fbp_status st = FBP_OK;
    char *lines = NULL, *to = out;

    FBP_TRY(fbp_alloc((void **)&lines, AT_ONCE * row, "a part of a sinogram"));
    for (size_t k = 0, n; k < n_views; k += n) {
        n = n_views - k < AT_ONCE ? n_views - k : AT_ONCE;
        for (size_t r = 0; r < n_rows; r++) {
            FBP_TRY_GOTO(
                (as_float ? fbp_source_read(src->below, row0 + r, 1, view0 + k, n, FBP_F32, lines)
                          : fbp_source_read_as_is(src->below, row0 + r, 1, view0 + k, n, lines)));
            for (size_t i = 0; i < n; i++)
                memcpy(to + ((k + i) * n_rows + r) * row, lines + i * row, row);
        }
    }
fail:
    fbp_free(lines);
    return st;
}

static fbp_status set_up_sinograms(fbp_source *src, const void *what, fbp_source *below)
{
    (void)what;
    src->read_block = read_sinograms;
    src->info = below->info;
    src->info.n[1] = below->info.n[2];
    src->info.n[2] = below->info.n[1];
    src->unpacks = true;
    src->held_bytes = below->held_bytes;
    src->reader_bytes = below->reader_bytes + AT_ONCE * src->info.n[0] * sizeof(double);
    return fbp_source_wrap_set_up(src, below);
}

fbp_status fbp_source_transpose(fbp_source **views)
{
    if (fbp_source_in_order(*views) || (*views)->unpacks)
        FBP_TRY(fbp_source_hold(views, *views, true));
    return fbp_source_wrap(views, set_up_sinograms, NULL, *views, true);
}
