/* A source of files with one view or slice each, or with several each (fbp_stack_open()). Its name
 * is a folder of files, a shell pattern such as "views/p_*.tif", or a pattern with two numbers such
 * as "views/%04d.mha 1 360"; names.c lists the files. Files stay open between reads of neighbouring
 * rows. In a scan that is still being measured, files may appear later.
 * Used by: source.c. */
#include "array/array.h"
#include "array/file/bytes.h"
#include "array/names.h"
#include "base/text.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_IDLE = 8, IDLE_BYTES = 64 << 20 };

/* Inode and size of a view's file when the view was complete, in a growing scan. */
struct complete_file {
    dev_t device;
    ino_t inode;
    off_t bytes;
};

/* Position of the samples in a file, known after the file was opened once. */
struct place {
    uint64_t offset;
    bool plain; /* The samples are contiguous in the file. */
    bool big_endian;
};

struct stack {
    struct fbp_file_names names;
    /* description of a view's file without a header; type FBP_TYPE_NONE: the files have headers */
    struct fbp_raw raw;
    uint64_t view_bytes;  /* bytes of the samples in a headerless file */
    struct place *places; /* [file]; NULL: not known yet */
    bool pages;           /* files may have several views (pages) each */
    size_t *starts;       /* [file] number of its first view */
    pthread_mutex_t lock; /* protects all of `idle` */
    /* Files that stay open, because their next rows may be requested; the last one used is last. */
    struct open_view {
        fbp_source *source;
        size_t file;
    } idle[MOST_IDLE];
    size_t n_idle, most_idle;
    struct complete_file *complete; /* [n]; growing stack only */
    size_t n_complete;
};

/* Get size, time and inode of the file of view k; false: the file does not exist. */
static bool stat_view(const struct fbp_file_names *names, size_t k, struct stat *out)
{
    char *name = fbp_names_get(names, k);
    const bool found = name && stat(name, out) == 0;

    free(name);
    return found;
}

/* Open file k. Its size, type and scale must agree with those of the first file. */
static fbp_status open_view(const struct fbp_source *src, size_t k, fbp_source **out)
{
    const struct stack *s = src->state;
    char *name = fbp_names_get(&s->names, k);

    FBP_TRY(fbp_check_path(name));
    const fbp_status st = fbp_source_open(out, name, &s->raw);
    free(name);
    FBP_TRY(st);
    const struct fbp_array_info *a = &(*out)->info, *b = &src->info;
    const bool same_scale = !(a->scale < b->scale || a->scale > b->scale || a->offset < b->offset ||
                              a->offset > b->offset);
    const bool alike = a->n[0] == b->n[0] && a->n[1] == b->n[1] && (a->n[2] == 1 || s->pages) &&
                       a->type == b->type && a->row_order == b->row_order;
    if (b->n[0] == 0 || (alike && same_scale)) /* the first file, or equal to the first */
        return FBP_OK;
    if (alike)
        (void)!FBP_INVALID(
            "%s: the scale or offset of its values differs from the first file; give "
            "files that were written together",
            (*out)->path);
    else if (a->row_order != b->row_order)
        (void)!FBP_INVALID("%s: has row 0 at the %s, but the first file has it at the %s (TIFF tag "
                           "Orientation); give files with the same orientation",
                           (*out)->path, a->row_order == FBP_ROWS_TOP_DOWN ? "top" : "bottom",
                           a->row_order == FBP_ROWS_TOP_DOWN ? "bottom" : "top");
    else
        (void)!FBP_INVALID("%s: contains %zu x %zu x %zu %s, but the first file %zu x %zu x 1 %s; "
                           "give files of the same size and type",
                           (*out)->path, a->n[0], a->n[1], a->n[2], fbp_type_name(a->type), b->n[0],
                           b->n[1], fbp_type_name(b->type));
    fbp_source_close(out);
    return FBP_ERR_INVALID;
}

/* Read rows of one view. Threads that call this at the same time open files of their own. */
static fbp_status read_view(fbp_source *src, size_t slice, size_t row0, size_t n_rows, void *out)
{
    struct stack *s = src->state;
    fbp_source *one = NULL, *oldest = NULL;
    size_t file = s->pages ? 0 : slice;
    fbp_status st = FBP_OK;

    for (size_t end = s->names.n; s->pages && end - file > 1;) { /* by halves */
        const size_t middle = file + (end - file) / 2;
        *(s->starts[middle] <= slice ? &file : &end) = middle;
    }
    const size_t page = s->pages ? slice - s->starts[file] : 0;
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->n_idle && !one; i++)
        if (s->idle[i].file == file) {
            one = s->idle[i].source;
            s->n_idle--;
            memmove(&s->idle[i], &s->idle[i + 1], (s->n_idle - i) * sizeof *s->idle);
        }
    pthread_mutex_unlock(&s->lock);

    /* If the samples of a file are contiguous, the header is not read again. */
    if (!one && s->places && s->places[file].plain) {
        FBP_TRY(fbp_source_open_one(src, 1, fbp_names_get(&s->names, file), &one));
        one->info.big_endian = s->places[file].big_endian;
        one->offset = s->places[file].offset;
    } else if (!one) {
        FBP_TRY(open_view(src, file, &one));
    }

    const size_t row = one->info.n[0] * fbp_type_size(one->info.type);
    if (one->read_block)
        st = one->read_block(one, page, 1, row0, n_rows, false, out);
    else if (one->read)
        st = one->read(one, page, row0, n_rows, out);
    else
        st = fbp_read_numbers(one->fd, one->path,
                              one->offset + ((uint64_t)page * one->info.n[1] + row0) * row,
                              &one->info, n_rows * one->info.n[0], out);
    if (st != FBP_OK) {
        fbp_source_close(&one);
        return st;
    }

    pthread_mutex_lock(&s->lock);
    if (s->n_idle == s->most_idle) {
        oldest = s->idle[0].source;
        s->n_idle--;
        memmove(&s->idle[0], &s->idle[1], s->n_idle * sizeof *s->idle);
    }
    s->idle[s->n_idle++] = (struct open_view){one, file};
    pthread_mutex_unlock(&s->lock);
    fbp_source_close(&oldest);
    return FBP_OK;
}

static void close_stack(fbp_source *src)
{
    struct stack *s = src->state;

    for (size_t i = 0; i < s->n_idle; i++)
        fbp_source_close(&s->idle[i].source);
    pthread_mutex_destroy(&s->lock);
    fbp_names_close(&s->names);
    free(s->places);
    free(s->starts);
    free(s->complete);
    free(s);
}

/* Open all files once, and record the positions of their samples. If fbp wrote the files as slices
 * of a volume, also check their numbers: no slice may be missing between two files. */
static fbp_status check_all(struct fbp_source *src)
{
    struct stack *s = src->state;
    const size_t n = s->names.n;
    size_t first = 0, n_views = 0; /* first: slice index of file 0 */

    FBP_TRY(fbp_calloc((void **)&s->places, n, sizeof *s->places, "places of views"));
    FBP_TRY(fbp_calloc((void **)&s->starts, n, sizeof *s->starts, "places of views"));
    for (size_t k = 0; k < n; k++) {
        struct stat opened, named;
        fbp_source *one = NULL;

        FBP_TRY(open_view(src, k, &one));
        s->starts[k] = n_views;
        n_views += one->info.n[2];
        const size_t slice = one->info.slice, slices = s->names.list ? one->info.slices : 0;
        /* Whether the samples are contiguous and uncompressed in the file of this name, not in
         * memory, chunks or another file. */
        const bool plain = !one->read && !one->read_block && !one->member &&
                           fstat(one->fd, &opened) == 0 && stat(one->path, &named) == 0 &&
                           opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
        s->places[k] = (struct place){one->offset, plain, one->info.big_endian};
        /* data files that the view's header names */
        const fbp_status st = fbp_inputs_add_all(&src->inputs, &one->inputs, 1);
        fbp_source_close(&one);
        FBP_TRY(st);

        first = k == 0 ? slice : first;
        if (slices > 0 && slice != first + k)
            return FBP_INVALID(
                "%s: file %zu is slice %zu of a volume, but slice %zu is missing; name "
                "the files of all slices, or copy the folder again",
                src->path, k, slice, first + k);
        if (k + 1 == n && n < slices && !strchr(src->path, '*'))
            snprintf(src->info.missing, sizeof src->info.missing,
                     "%.120s: contains only slices %zu to %zu of a volume of %zu slices, counted "
                     "from 0; copy the folder again, unless these slices were chosen on purpose",
                     src->path, first, slice, slices);
    }
    src->info.n[2] = n_views;
    uint64_t bytes;
    return fbp_array_bytes(src->path, &src->info, &bytes);
}

/* Find whether the file of view k is complete. If it is not, the function returns FBP_OK, and
 * fbp_message() states the reason. A headerless file that is too large is an error. */
static fbp_status is_complete(const struct fbp_source *src, size_t k, const struct stat *file,
                              bool *complete)
{
    const struct stack *s = src->state;
    const uint64_t needs = s->raw.header_bytes + s->view_bytes, has = (uint64_t)file->st_size;
    fbp_source *one = NULL;

    *complete = false;
    if (s->raw.type == FBP_TYPE_NONE) {
        *complete = open_view(src, k, &one) == FBP_OK;
        fbp_source_close(&one);
        return FBP_OK;
    }
    if (has > needs)
        return FBP_INVALID("%s: the file of view %zu has %llu bytes, but \"raw\" describes %llu; "
                           "correct type, shape or header_bytes",
                           src->path, k, (unsigned long long)has, (unsigned long long)needs);
    *complete = has == needs;
    if (!*complete)
        (void)!FBP_INVALID("the file of view %zu has %llu of %llu bytes", k,
                           (unsigned long long)has, (unsigned long long)needs);
    return FBP_OK;
}

/* Counts the complete views of a scan that is still being measured, from the first on; the member
 * `look` of the source. */
static fbp_status look(fbp_source *src, bool again, size_t *n_views, uint64_t *bytes)
{
    struct stack *s = src->state;
    struct stat file = {0};
    bool complete = true;

    for (size_t k = 0; again && k < s->n_complete; k++) {
        const struct complete_file *was = &s->complete[k];

        if (!stat_view(&s->names, k, &file) || file.st_dev != was->device ||
            file.st_ino != was->inode || file.st_size != was->bytes)
            return fbp_fail(FBP_ERR_IO,
                            "%s: the file of view %zu was changed after it had been read; start "
                            "again when the scan is complete",
                            src->path, k);
    }
    fbp_message_clear();
    while (complete && s->n_complete < src->info.n[2]) {
        file = (struct stat){0};
        complete = stat_view(&s->names, s->n_complete, &file);
        if (complete)
            FBP_TRY(is_complete(src, s->n_complete, &file, &complete));
        else
            (void)!fbp_fail(FBP_ERR_IO, "the file of view %zu: %s", s->n_complete, strerror(errno));
        if (complete)
            s->complete[s->n_complete++] =
                (struct complete_file){file.st_dev, file.st_ino, file.st_size};
    }
    *n_views = s->n_complete;
    *bytes = s->n_complete + (complete ? 0 : (uint64_t)file.st_size);
    return FBP_OK;
}

fbp_status fbp_stack_open(struct fbp_source *src, const struct fbp_raw *raw)
{
    struct stack *s = NULL;

    FBP_TRY(fbp_calloc((void **)&s, 1, sizeof *s, "a stack of views"));
    pthread_mutex_init(&s->lock, NULL);
    src->state = s;
    src->close = close_stack;
    src->read = read_view;
    src->look = look;
    FBP_TRY(fbp_names_open(&s->names, src->path, raw && raw->type != FBP_TYPE_NONE));
    if (s->names.list && src->growing)
        return FBP_UNSUPPORTED(
            "%s: --follow needs the number of views, which a folder, or a name with '*', does not "
            "give; name the views by a pattern, such as \"views/%%04d.tif 1 360\"",
            src->path);
    if (raw && raw->type != FBP_TYPE_NONE) {
        if (raw->n[2] != 0 && raw->n[2] != s->names.n)
            return FBP_INVALID(
                "%s: \"raw\" describes %zu views, but %zu files are named; correct one of them",
                src->path, raw->n[2], s->names.n);
        s->raw = *raw;
        s->raw.n[2] = 1;
        src->info.type = raw->type;
        src->info.big_endian = raw->big_endian;
        src->info.row_order = FBP_ROWS_BOTTOM_UP;
        memcpy(src->info.n, s->raw.n, sizeof s->raw.n);
        FBP_TRY(fbp_array_bytes(src->path, &src->info, &s->view_bytes));
    } else { /* only the header of the first file */
        fbp_source *one = NULL;

        FBP_TRY(open_view(src, 0, &one));
        src->info = one->info;
        src->info.slice = src->info.slices = 0;
        const bool compressed = one->in_order;
        src->unpacks = one->read || one->read_block;
        src->reader_bytes = fbp_source_bytes(one, 1);
        const fbp_status st = fbp_inputs_add_all(&src->inputs, &one->inputs, 1);
        fbp_source_close(&one);
        FBP_TRY(st);
        if (src->growing && compressed)
            return FBP_UNSUPPORTED(
                "%s: --follow cannot read compressed views; write them without compression",
                src->path);
        s->pages = src->info.n[2] != 1;
        src->in_order = s->pages && compressed;
        if (s->pages && src->growing)
            return FBP_INVALID(
                "%s: file number %llu contains %zu views, but --follow needs files of "
                "one view each; omit --follow, or name the file itself",
                src->path, s->names.pattern.first, src->info.n[2]);
    }
    src->info.n[2] = s->names.n;
    s->most_idle = src->reader_bytes > IDLE_BYTES / MOST_IDLE
                       ? (size_t)(IDLE_BYTES / src->reader_bytes) + (src->reader_bytes > IDLE_BYTES)
                       : MOST_IDLE;
    src->held_bytes = s->most_idle * src->reader_bytes;
    snprintf(src->info.format, sizeof src->info.format, "stack");
    snprintf(src->info.taken, sizeof src->info.taken, "%s", s->names.note);
    if (!src->growing)
        FBP_TRY(check_all(src));
    if (s->pages)
        snprintf(src->info.taken, sizeof src->info.taken, "%.240s%s%zu views in %zu files",
                 s->names.note, s->names.note[0] ? "; " : "", src->info.n[2], s->names.n);
    if (!src->growing)
        return FBP_OK;
    return fbp_calloc((void **)&s->complete, src->info.n[2], sizeof *s->complete,
                      "a table of views");
}
