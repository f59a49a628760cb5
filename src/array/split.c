#include "array/split.h"
#include "array/file/frames.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

fbp_status fbp_split_refuse(const char *path)
{
    return fbp_fail(FBP_ERR_UNSUPPORTED,
                    "%s: is not split: several files can be one volume only in HDF5: write .h5, or "
                    "a stack (slice_%%04d.tif) or .ome.zarr, which are many files as they are",
                    path);
}

static int digits(size_t n)
{
    char text[24];

    return snprintf(text, sizeof text, "%zu", n);
}

/* A frame of a series begins a new file. */
static void name_file(const struct fbp_sink *s, struct fbp_split_file *f)
{
    const size_t nz = fbp_frame_slices(&s->info), frames = fbp_array_frames(&s->info);
    const int width = digits(nz - 1);
    const size_t z = f->z0 % nz;
    char frame[40] = "";

    if (frames > 1)
        snprintf(frame, sizeof frame, "frame_%0*zu_", digits(frames - 1), f->z0 / nz);
    snprintf(f->name, sizeof f->name, "%.30sslices_%0*zu-%0*zu%.8s", frame, width, z, width,
             z + f->nz - 1, s->format->split->extension);
}

static fbp_status make_files(struct fbp_sink *s)
{
    struct fbp_split *x = s->split;
    const size_t nz = fbp_frame_slices(&s->info);
    const size_t each = (nz - 1) / x->slices + 1, frames = fbp_array_frames(&s->info);

    if (frames > FBP_SPLIT_FILES_MOST)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: %zu frames would be as many files or more, and %d are the most: leave "
                        "--split out, or write fewer frames",
                        s->path, frames, FBP_SPLIT_FILES_MOST);
    if (each > FBP_SPLIT_FILES_MOST / frames)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: files of %zu slices each would be %.0f: %d are the most: give them "
                        "more slices",
                        s->path, x->slices, (double)each * (double)frames, FBP_SPLIT_FILES_MOST);
    x->pieces.n_files = each * frames;
    FBP_TRY(fbp_calloc((void **)&x->pieces.file, x->pieces.n_files, sizeof *x->pieces.file,
                       "a table of files"));
    for (size_t k = 0; k < x->pieces.n_files; k++) {
        struct fbp_split_file *f = &x->pieces.file[k];
        const size_t z = k % each * x->slices;
        f->z0 = k / each * nz + z;
        f->nz = nz - z < x->slices ? nz - z : x->slices;
        name_file(s, f);
    }
    return FBP_OK;
}

static struct fbp_split_token token_of(const struct fbp_sink *s, size_t which)
{
    const uint64_t what[] = {s->info.n[0], s->info.n[1], s->info.n[2], s->split->slices, which};
    struct fbp_split_token token;

    snprintf(token.text, sizeof token.text, "%08x",
             (unsigned)fbp_hash(s->fingerprint, what, sizeof what));
    return token;
}

static bool same(struct fbp_split_token a, struct fbp_split_token b)
{
    return strcmp(a.text, b.text) == 0;
}

/* Not the folder of what is replaced; if work has begun, that which it has. */
static fbp_status choose_folder(struct fbp_sink *s)
{
    const struct fbp_split_token one = token_of(s, 0), other = token_of(s, 1);
    struct fbp_split_token used, begun;

    FBP_TRY(fbp_split_named(s, s->path, &used));
    FBP_TRY(fbp_split_named(s, s->part, &begun));
    const bool second = same(used, one) || (same(begun, other) && !same(used, other));
    const char *base = fbp_base_name(s->path);
    const char *token = second ? other.text : one.text;
    s->split->pieces.folder = fbp_format("%s.%s", base, token);
    s->split->folder = fbp_format("%s.%s", s->path, token);
    return s->split->pieces.folder && s->split->folder ? FBP_OK
                                                       : fbp_fail_nomem(strlen(s->path), "a path");
}

fbp_status fbp_split_create(struct fbp_sink *s, size_t slices)
{
    FBP_TRY(fbp_calloc((void **)&s->split, 1, sizeof *s->split, "several files"));
    s->split->dir = -1;
    s->split->slices = slices < fbp_frame_slices(&s->info) ? slices : fbp_frame_slices(&s->info);
    pthread_mutex_init(&s->split->lock, NULL);
    FBP_TRY(make_files(s));
    FBP_TRY(fbp_calloc((void **)&s->split->open, s->split->pieces.n_files, sizeof *s->split->open,
                       "a table of files"));
    for (size_t k = 0; k < s->split->pieces.n_files; k++)
        s->split->open[k].fd = -1;
    if (s->fingerprint) /* files of other sizes are another output */
        s->fingerprint = fbp_hash(s->fingerprint, &s->split->slices, sizeof s->split->slices);
    return choose_folder(s);
}

void fbp_split_destroy(struct fbp_split **split)
{
    struct fbp_split *x = *split;

    if (!x)
        return;
    for (size_t k = 0; x->pieces.file && k < x->pieces.n_files; k++) {
        free(x->pieces.file[k].header);
        if (x->open && x->open[k].fd >= 0)
            close(x->open[k].fd);
    }
    if (x->dir >= 0)
        close(x->dir);
    pthread_mutex_destroy(&x->lock);
    free(x->pieces.file);
    free(x->pieces.folder);
    free(x->open);
    free(x->folder);
    free(x);
    *split = NULL;
}
