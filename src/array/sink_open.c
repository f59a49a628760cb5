/* Opening a sink: what its name and its parameters ask for. */
#include "array/chunked.h"
#include "array/file/bytes.h"
#include "array/file/frames.h"
#include "array/file/outfile.h"
#include "array/formats.h"
#include "array/joint.h"
#include "array/reads.h"
#include "array/sink_stack.h"
#include "array/ways.h"

#include "base/cache.h"
#include "base/base.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "sinks write memory as little-endian");

/* Is the name free, or that of what can be replaced? */
static fbp_status check_name(const struct fbp_sink *s, const char *path)
{
    return (s->format->chunks ? fbp_chunked_check : fbp_output_check)(path);
}

static fbp_status find_format(struct fbp_sink *s, const char *path)
{
    char known[400];
    size_t n;

    if (s->format) { /* fbp_sink_open_as() */
        s->path = fbp_strdup(path);
        if (!s->path)
            return fbp_fail_nomem(strlen(path), "a path");
        if (!fbp_has_extension(path, s->format->extensions))
            return fbp_fail(FBP_ERR_INVALID, "%s: expected a name that ends in %s", path,
                            s->format->extensions);
        return check_name(s, path);
    }
    s->format = fbp_format_to_write(path, &n);
    s->path = fbp_format("%.*s", (int)n, path);
    if (!s->path)
        return fbp_fail_nomem(n, "a path");
    if (!s->format)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: no format is known for this name: end it in one of %s, or use "
                        "null: or hash:",
                        path, fbp_formats_written(known, sizeof known));
    return check_name(s, s->path);
}

static fbp_status make_layout(struct fbp_sink *s, const char *path)
{
    const struct fbp_sink_format *f = s->format;

    return f->layout_with ? f->layout_with(s->context, path, &s->info, &s->layout)
                          : f->layout(path, &s->info, s->compress, &s->layout);
}

/* Names of all files, where a link leads; `path` is s->path, perhaps with an array inside it. */
static fbp_status name_files(struct fbp_sink *s, const char *path)
{
    const size_t n = strlen(s->path);
    fbp_status st;

    FBP_TRY(fbp_sink_follow_link(&s->path, s->format->extensions));
    s->part = fbp_format("%s.part", s->path);
    s->log = fbp_format("%s.part.log", s->path);
    char *whole = fbp_format("%s%s", s->path, path + n);
    st = s->part && s->log && whole ? FBP_OK : fbp_fail_nomem(n, "a path");
    if (s->fingerprint && path[n]) /* another array of a file is another output */
        s->fingerprint = fbp_hash(s->fingerprint, path + n, strlen(path + n));
    if (st == FBP_OK)
        st = make_layout(s, whole);
    free(whole);
    FBP_TRY(st);
    if (s->layout.side_path && (strlen(s->path) != n || memcmp(path, s->path, n) != 0))
        return fbp_fail(FBP_ERR_INVALID,
                        "%.*s: is a link, but the output is of two files, which are looked for "
                        "beside each other: name %s itself",
                        (int)n, path, s->path);
    if (!s->compress || s->format->packs_header)
        s->part_offset = s->layout.header_bytes;
    return FBP_OK;
}

static fbp_status spare_inputs(const struct fbp_sink *s, const struct fbp_sink_params *params)
{
    const struct fbp_layout *l = &s->layout;

    for (size_t i = 0; i < params->n_keep && !params->force; i++) {
        bool hit = false;
        if (params->keep[i])
            FBP_TRY(fbp_input_is(params->keep[i], l->data_path, &hit));
        if (params->keep[i] && l->side_path && !hit)
            FBP_TRY(fbp_input_is(params->keep[i], l->side_path, &hit));
        if (hit)
            return fbp_fail(
                FBP_ERR_INVALID,
                "%s: this output would replace %s, which is read for it: choose another "
                "name, or give --force",
                s->path, params->keep[i]);
    }
    return FBP_OK;
}

/* A fbp_run_there_fn for PATH.part. */
static bool run_is_there(const struct fbp_sink *s, size_t z0, size_t nz, uint64_t hash,
                         void *scratch)
{
    const uint64_t total = (uint64_t)nz * s->slice_bytes;
    uint64_t at = s->part_offset + (uint64_t)z0 * s->slice_bytes, h = 0;

    for (uint64_t done = 0; done < total;) {
        const size_t n = total - done < FBP_PIECE_BYTES ? (size_t)(total - done) : FBP_PIECE_BYTES;
        if (fbp_sink_get(s, at, scratch, n) != FBP_OK) {
            fbp_message_clear(); /* such slices are simply computed again */
            return false;
        }
        h = fbp_hash(h, scratch, n);
        done += n;
        at += n;
    }
    return h == hash;
}

static fbp_status open_part(struct fbp_sink *s, const struct fbp_part_inputs *inputs, bool resume)
{
    const bool pair = strcmp(s->layout.data_path, s->path) != 0;
    bool left = false, fresh = true;

    FBP_TRY(fbp_sink_name_second(s, pair ? s->layout.data_path : NULL));
    if (s->joint && !s->joint->own.first)
        return fbp_joint_join(s, inputs, NULL);
    FBP_TRY(fbp_part_spare(inputs, s->part));
    FBP_TRY(fbp_sink_lock(s, inputs, &left));
    if (left)
        FBP_TRY(fbp_joint_yield(s, resume));
    if (s->joint || (resume && fbp_joint_is_left(s)))
        return fbp_joint_take_over(s, inputs, left, resume, NULL);
    FBP_TRY(fbp_sink_part_open(s, inputs, left, resume, &fresh));
    FBP_TRY(fbp_sink_reserve(s));
    FBP_TRY(fbp_sink_write_header(s));
    return fresh ? FBP_OK : fbp_journal_resume(s, run_is_there);
}

/* A series, where the format has a place for it? */
static fbp_status check_frames(const struct fbp_sink *s, const char *path, bool has_place)
{
    const size_t frames = fbp_array_frames(&s->info);

    if (s->info.n[2] % frames != 0)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: %zu slices are not those of %zu frames: give as many to each", path,
                        s->info.n[2], frames);
    if (frames == 1 || has_place)
        return FBP_OK;
    return fbp_fail(FBP_ERR_UNSUPPORTED,
                    "%s: such files have no place for a series of %zu frames: write .mha, .nii, "
                    ".nrrd, .h5, .mat, .npy or .raw",
                    path, frames);
}

static fbp_status open_file(struct fbp_sink *s, const char *path,
                            const struct fbp_sink_params *params)
{
    struct fbp_part_inputs inputs = {0};
    fbp_status st;

    FBP_TRY(find_format(s, path));
    FBP_TRY(check_frames(s, path, s->format->frames));
    if (params->resume && s->fingerprint == 0)
        return fbp_fail(FBP_ERR_INVALID, "%s: cannot be resumed without a fingerprint", path);
    s->compress = s->format->packs_header || (s->compress && s->format->can_compress);
    FBP_TRY(name_files(s, path));
    FBP_TRY(check_name(s, s->layout.data_path));
    if (s->layout.side_path)
        FBP_TRY(fbp_output_check(s->layout.side_path));
    FBP_TRY(spare_inputs(s, params));
    if (s->format->chunks)
        FBP_TRY(fbp_chunked_create(s, s->format->chunks, params->level_bytes));
    st = fbp_part_inputs_open(&inputs, params);
    if (st == FBP_OK)
        st = open_part(s, &inputs, params->resume);
    fbp_part_inputs_close(&inputs);
    return st;
}

/* Values as they are, or integers that stand for a range. */
static fbp_status take_type(struct fbp_sink *s, const char *path,
                            const struct fbp_sink_params *params)
{
    const double lo = params->range[0], hi = params->range[1];
    const enum fbp_type type = params->type ? params->type : FBP_F32;
    const double top = type == FBP_U8 ? UINT8_MAX : UINT16_MAX;

    s->info.type = type;
    s->info.scale = s->info.offset = 0;
    s->info.row_order = FBP_ROWS_BOTTOM_UP;
    if (type == FBP_F64 && s->fingerprint)
        s->fingerprint = fbp_hash(s->fingerprint, &type, sizeof type);
    if (type == FBP_F32 || type == FBP_F64)
        return FBP_OK;
    if (type != FBP_U8 && type != FBP_U16)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: %s is not written: choose float32, float64, uint16 or uint8", path,
                        fbp_type_name(type));
    if (!(lo < hi) || !isfinite((hi - lo) / top))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: the range %g to %g cannot be mapped to %s: give the least and the "
                        "greatest value that matter",
                        path, lo, hi, fbp_type_name(type));
    if (strcmp(path, "hash:") == 0)
        return fbp_fail(FBP_ERR_INVALID, "hash: is that of float32: leave the output type out");
    s->info.scale = (hi - lo) / top;
    s->info.offset = lo;
    if (s->fingerprint)
        s->fingerprint = fbp_hash(s->fingerprint + type, params->range, sizeof params->range);
    return FBP_OK;
}

static fbp_status open_any(struct fbp_sink *s, const char *path,
                           const struct fbp_sink_params *params, const struct fbp_sink_joint *joint)
{
    const struct fbp_ways ways = {joint != NULL, params->compress != 0};
    uint64_t bytes = 0;

    s->fd = s->log_fd = s->lock_fd = -1;
    pthread_mutex_init(&s->lock, NULL);
    FBP_TRY(fbp_ways_check(path, s->format, &ways));
    FBP_TRY(take_type(s, path, params));
    FBP_TRY(fbp_array_bytes(path, &s->info, &bytes));
    if (bytes > SIZE_MAX)
        return fbp_fail(FBP_ERR_INVALID, "%s: too large for this machine", path);
    s->slice_bytes = s->info.n[0] * s->info.n[1] * fbp_type_size(s->info.type);
    FBP_TRY(fbp_calloc((void **)&s->have, s->info.n[2], 1, "a table of slices"));
    if (joint)
        FBP_TRY(fbp_joint_create(s, path, joint));
    if (!s->format && strcmp(path, "null:") == 0) {
        s->kind = FBP_SINK_NULL;
        return FBP_OK;
    }
    if (!s->format && strcmp(path, "hash:") == 0) {
        s->kind = FBP_SINK_HASH;
        return fbp_calloc((void **)&s->hash, s->info.n[2], sizeof *s->hash, "hashes of slices");
    }
    s->slices = s->format ? NULL : fbp_format_of_slices(path);
    if (s->slices) {
        s->kind = FBP_SINK_STACK;
        FBP_TRY(check_frames(s, path, false));
        return fbp_sink_stack_open(s, path, params);
    }
    s->kind = FBP_SINK_FILE;
    return open_file(s, path, params);
}

static fbp_status take_params(struct fbp_sink_params *own, const struct fbp_sink_params *given)
{
    FBP_TRY(FBP_TAKE(sink_params, own, given));
    FBP_TRY(fbp_check_choice("sink: type", (long)own->type, FBP_F64));
    FBP_TRY(fbp_check_range(&fbp_range_value, "sink: range[0]", own->range[0]));
    FBP_TRY(fbp_check_range(&fbp_range_value, "sink: range[1]", own->range[1]));
    if (own->n_keep && !own->keep)
        return fbp_fail(FBP_ERR_INVALID, "sink: keep: found NULL, expected %zu names", own->n_keep);
    return FBP_OK;
}

/* How a sink is opened, beside what callers may say. */
struct opening {
    const struct fbp_sink_format *format; /* NULL: by its name */
    const void *context;
    const struct fbp_sink_joint *joint; /* NULL: by one process */
};

static fbp_status open_sink(fbp_sink **out, const char *path, const struct fbp_array_info *info,
                            const struct fbp_sink_params *params, const struct opening *how)
{
    const struct fbp_sink_params defaults = {.struct_size = sizeof defaults};
    struct fbp_sink_params own;
    struct fbp_array_info whole;
    struct fbp_sink *s = NULL;
    fbp_status st;

    *out = NULL;
    FBP_TRY(take_params(&own, params ? params : &defaults));
    params = &own;
    FBP_TRY(FBP_TAKE(array_info, &whole, info));
    FBP_TRY(fbp_calloc((void **)&s, 1, sizeof *s, "a sink"));
    s->process = getpid();
    s->info = whole;
    s->compress = params->compress;
    s->fingerprint = params->fingerprint;
    s->format = how->format;
    s->context = how->context;
    FBP_TRY_GOTO(open_any(s, path, params, how->joint));
    s->context = NULL;
    *out = s;
    return FBP_OK;
fail:
    fbp_sink_close(&s);
    return st;
}

fbp_status fbp_sink_open_as(fbp_sink **out, const char *path, const struct fbp_array_info *info,
                            const struct fbp_sink_params *params,
                            const struct fbp_sink_format *format, const void *context)
{
    return open_sink(out, path, info, params, &(struct opening){format, context, NULL});
}

fbp_status fbp_sink_open_joint(fbp_sink **out, const char *path, const struct fbp_array_info *info,
                               const struct fbp_sink_params *params,
                               const struct fbp_sink_joint *joint)
{
    fbp_message_clear();
    return open_sink(out, path, info, params, &(struct opening){NULL, NULL, joint});
}

fbp_status fbp_sink_open(fbp_sink **out, const char *path, const struct fbp_array_info *info,
                         const struct fbp_sink_params *params)
{
    FBP_GIVEN(out, path);
    fbp_message_clear();
    return fbp_sink_open_as(out, path, info, params, NULL, NULL);
}
