/* Views in a file each, named by a pattern with two numbers, as MetaImage writes them, or by their
 * folder. */
#include "array/stack.h"
#include "array/file/bytes.h"
#include "array/file/values.h"
#include "array/names.h"

#include "base/base.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* What a file was when its view was taken. */
struct taken {
    dev_t device;
    ino_t inode;
    off_t bytes;
};

/* Where a view's samples are, once its file has been looked at. */
struct place {
    uint64_t offset;
    bool plain; /* one run of samples at `offset` of the named file; else its format reads them */
    bool big_endian;
};

enum { MOST_IDLE = 8, IDLE_BYTES = 64 << 20 };

struct stack {
    struct fbp_names names;
    fbp_open_view_fn *open;
    struct fbp_raw raw;   /* of one file; type NONE: files with headers */
    uint64_t view_bytes;  /* of a headerless file */
    struct place *places; /* [n]; NULL while they are not known */
    pthread_mutex_t lock; /* all of `idle` */
    /* Files that stay open, as their next rows may be wanted next; the one left last comes last. */
    struct open_view {
        fbp_source *source;
        size_t view;
    } idle[MOST_IDLE];
    size_t n_idle, most_idle;
    struct taken *taken; /* [n]; of a growing stack */
    size_t n_taken;
};

/* Its size, time and inode, if it is there. */
static bool look_at(const struct fbp_names *names, size_t k, struct stat *out)
{
    char *name = fbp_names_get(names, k);
    const bool found = name && stat(name, out) == 0;

    free(name);
    return found;
}

/* One view's file, which must be as the others. */
static fbp_status open_view(const struct fbp_source *src, size_t k, fbp_source **out)
{
    const struct stack *s = src->state;
    char *name = fbp_names_get(&s->names, k);

    if (!name)
        return fbp_fail_nomem(strlen(src->path), "a path");
    const fbp_status st = s->open(out, name, &s->raw);
    free(name);
    FBP_TRY(st);
    const struct fbp_array_info *a = &(*out)->info, *b = &src->info;
    if (b->n[0] == 0 || (a->n[0] == b->n[0] && a->n[1] == b->n[1] && a->n[2] == 1 &&
                         a->type == b->type && a->row_order == b->row_order)) {
        if (b->n[0] == 0 || !(a->scale < b->scale || a->scale > b->scale || a->offset < b->offset ||
                              a->offset > b->offset))
            return FBP_OK;
        (void)!fbp_fail(FBP_ERR_INVALID,
                        "%s: its numbers stand for other values than those of the first file: "
                        "give files that were written together",
                        (*out)->path);
        fbp_source_close(out);
        return FBP_ERR_INVALID;
    }
    if (a->row_order != b->row_order)
        (void)!fbp_fail(FBP_ERR_INVALID,
                        "%s: has row 0 at the %s, the other views at the %s (the tag Orientation "
                        "of TIFF says so): give files that are alike",
                        (*out)->path, a->row_order == FBP_ROWS_TOP_DOWN ? "top" : "bottom",
                        a->row_order == FBP_ROWS_TOP_DOWN ? "bottom" : "top");
    else
        (void)!fbp_fail(FBP_ERR_INVALID,
                        "%s: holds %zu x %zu x %zu %s, the other views are %zu x %zu x 1 %s: give "
                        "files that are alike",
                        (*out)->path, a->n[0], a->n[1], a->n[2], fbp_type_name(a->type), b->n[0],
                        b->n[1], fbp_type_name(b->type));
    fbp_source_close(out);
    return FBP_ERR_INVALID;
}

static fbp_status read_rows(fbp_source *one, size_t row0, size_t n_rows, void *out)
{
    const size_t size = fbp_type_size(one->info.type), row = one->info.n[0] * size;

    if (one->read_block)
        return one->read_block(one, 0, 1, row0, n_rows, false, out);
    if (one->read)
        return one->read(one, 0, row0, n_rows, out);
    return fbp_read_numbers(one->fd, one->path, one->offset + row0 * row, &one->info,
                            n_rows * one->info.n[0], out);
}

/* A file that was looked at before need not be understood again. */
static fbp_status reopen_view(const fbp_source *src, size_t k, fbp_source **out)
{
    const struct stack *s = src->state;
    const struct place *p = s->places ? &s->places[k] : NULL;
    fbp_source *one = NULL;
    uint64_t size;
    fbp_status st;

    if (!p || !p->plain)
        return open_view(src, k, out);
    FBP_TRY(fbp_calloc((void **)&one, 1, sizeof *one, "a source"));
    one->fd = -1;
    one->info = src->info;
    one->info.n[2] = 1;
    one->info.big_endian = p->big_endian;
    one->offset = p->offset;
    one->path = fbp_names_get(&s->names, k);
    if (!one->path) {
        st = fbp_fail_nomem(strlen(src->path), "a path");
        goto fail;
    }
    FBP_TRY_GOTO(fbp_open_file(one->path, &one->fd, &size));
    *out = one;
    return FBP_OK;
fail:
    fbp_source_close(&one);
    return st;
}

static fbp_status get_view(const fbp_source *src, size_t k, fbp_source **out)
{
    struct stack *s = src->state;

    *out = NULL;
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->n_idle && !*out; i++)
        if (s->idle[i].view == k) {
            *out = s->idle[i].source;
            s->n_idle--;
            memmove(&s->idle[i], &s->idle[i + 1], (s->n_idle - i) * sizeof *s->idle);
        }
    pthread_mutex_unlock(&s->lock);
    return *out ? FBP_OK : reopen_view(src, k, out);
}

static void put_view(struct stack *s, size_t k, fbp_source *one)
{
    fbp_source *oldest = NULL;

    pthread_mutex_lock(&s->lock);
    if (s->n_idle == s->most_idle) {
        oldest = s->idle[0].source;
        s->n_idle--;
        memmove(&s->idle[0], &s->idle[1], s->n_idle * sizeof *s->idle);
    }
    s->idle[s->n_idle++] = (struct open_view){one, k};
    pthread_mutex_unlock(&s->lock);
    fbp_source_close(&oldest);
}

/* By several threads at once, each with a file of its own. */
static fbp_status read_view(fbp_source *src, size_t slice, size_t row0, size_t n_rows, void *out)
{
    fbp_source *one = NULL;

    FBP_TRY(get_view(src, slice, &one));
    const fbp_status st = read_rows(one, row0, n_rows, out);
    if (st == FBP_OK)
        put_view(src->state, slice, one);
    else
        fbp_source_close(&one);
    return st;
}

static void close_stack(fbp_source *src)
{
    struct stack *s = src->state;

    for (size_t i = 0; i < s->n_idle; i++)
        fbp_source_close(&s->idle[i].source);
    pthread_mutex_destroy(&s->lock);
    fbp_names_close(&s->names);
    free(s->places);
    free(s->taken);
    free(s);
}

/* Size and type from the description of headerless files. */
static fbp_status take_raw(struct fbp_source *src, const struct fbp_raw *raw)
{
    struct stack *s = src->state;
    const size_t n = s->names.n;

    if (raw->n[2] != 0 && raw->n[2] != n)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: raw describes %zu views, the %s names %zu files: correct one of "
                        "them",
                        src->path, raw->n[2], s->names.list ? "folder" : "pattern", n);
    s->raw = *raw;
    s->raw.n[2] = 1;
    src->info.type = raw->type;
    src->info.big_endian = raw->big_endian;
    src->info.row_order = FBP_ROWS_BOTTOM_UP;
    memcpy(src->info.n, s->raw.n, sizeof s->raw.n);
    return fbp_array_bytes(src->path, &src->info, &s->view_bytes);
}

/* Size and type from the first file's header. */
static fbp_status take_first(struct fbp_source *src)
{
    const struct stack *s = src->state;
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
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: its views are compressed: compressed files cannot be followed while "
                        "they come: write them without compression",
                        src->path);
    if (src->info.n[2] != 1)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: number %llu holds %zu views: a pattern or a folder is for files of "
                        "one view each: name the file itself",
                        src->path, s->names.list ? 1 : s->names.pattern.first, src->info.n[2]);
    return FBP_OK;
}

/* Samples in one run of the file that has the view's name: not in one beside it, in memory, in
 * chunks, or compressed. */
static bool is_plain(const struct fbp_source *one)
{
    struct stat opened, named;

    return !one->read && !one->read_block && !one->member && fstat(one->fd, &opened) == 0 &&
           stat(one->path, &named) == 0 && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
}

/* Slices of a volume that fbp has written to a folder: of file k and those before it none is
 * missing between two others; first: the slice that is file 0. */
static fbp_status check_slice(struct fbp_source *src, size_t k, const struct fbp_array_info *i,
                              size_t *first)
{
    const size_t n = src->info.n[2];

    *first = k == 0 ? i->slice : *first;
    if (i->slices == 0)
        return FBP_OK;
    if (i->slice != *first + k)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: file %zu of the folder is slice %zu of a volume, and slice %zu is not "
                        "there: it is an incomplete copy: copy it again",
                        src->path, k, i->slice, *first + k);
    if (k + 1 == n && n < i->slices && !strchr(src->path, '*'))
        snprintf(src->info.missing, sizeof src->info.missing,
                 "%.120s: has slices %zu to %zu of a volume of %zu slices, counted from 0: the "
                 "others are missing: copy the folder again, unless these were chosen on purpose",
                 src->path, *first, i->slice, i->slices);
    return FBP_OK;
}

static fbp_status check_all(struct fbp_source *src)
{
    struct stack *s = src->state;
    fbp_status st = FBP_OK;
    size_t first = 0;

    FBP_TRY(fbp_calloc((void **)&s->places, src->info.n[2], sizeof *s->places, "places of views"));
    for (size_t k = 0; st == FBP_OK && k < src->info.n[2]; k++) {
        fbp_source *one = NULL;
        FBP_TRY(open_view(src, k, &one));
        st = s->names.list ? check_slice(src, k, &one->info, &first) : FBP_OK;
        if (st != FBP_OK) {
            fbp_source_close(&one);
            return st;
        }
        s->places[k] = (struct place){one->offset, is_plain(one), one->info.big_endian};
        st = fbp_inputs_add_all(&src->inputs, &one->inputs, 1); /* that the pattern does not name */
        fbp_source_close(&one);
    }
    return st;
}

/* Is a view completely there?  What lacks is the message; FBP_OK also if it does. */
static fbp_status is_complete(const struct fbp_source *src, size_t k, const struct stat *file,
                              bool *complete)
{
    const struct stack *s = src->state;
    const uint64_t wanted = s->raw.header_bytes + s->view_bytes, has = (uint64_t)file->st_size;
    fbp_source *one = NULL;

    *complete = false;
    if (s->raw.type == FBP_TYPE_NONE) {
        *complete = open_view(src, k, &one) == FBP_OK;
        fbp_source_close(&one);
        return FBP_OK;
    }
    if (has > wanted)
        return fbp_fail(
            FBP_ERR_INVALID,
            "%s: the file of view %zu has %llu bytes, raw describes %llu: correct type, "
            "shape or header_bytes",
            src->path, k, (unsigned long long)has, (unsigned long long)wanted);
    *complete = has == wanted;
    if (!*complete)
        (void)!fbp_fail(FBP_ERR_INVALID, "the file of view %zu has %llu of %llu bytes", k,
                        (unsigned long long)has, (unsigned long long)wanted);
    return FBP_OK;
}

static fbp_status check_taken(const struct fbp_source *src, size_t k)
{
    const struct stack *s = src->state;
    const struct taken *was = &s->taken[k];
    struct stat is;

    if (look_at(&s->names, k, &is) && is.st_dev == was->device && is.st_ino == was->inode &&
        is.st_size == was->bytes)
        return FBP_OK;
    return fbp_fail(FBP_ERR_IO,
                    "%s: the file of view %zu was changed after it had been read: start again when "
                    "the scan is complete",
                    src->path, k);
}

static fbp_status look(fbp_source *src, bool again, size_t *n_views, uint64_t *bytes)
{
    struct stack *s = src->state;
    struct stat file = {0};
    bool complete = true;

    for (size_t k = 0; again && k < s->n_taken; k++)
        FBP_TRY(check_taken(src, k));
    fbp_message_clear();
    while (complete && s->n_taken < src->info.n[2]) {
        file = (struct stat){0};
        complete = look_at(&s->names, s->n_taken, &file);
        if (complete)
            FBP_TRY(is_complete(src, s->n_taken, &file, &complete));
        else
            (void)!fbp_fail(FBP_ERR_IO, "the file of view %zu: %s", s->n_taken, strerror(errno));
        if (complete)
            s->taken[s->n_taken++] = (struct taken){file.st_dev, file.st_ino, file.st_size};
    }
    *n_views = s->n_taken;
    *bytes = s->n_taken + (complete ? 0 : (uint64_t)file.st_size);
    return FBP_OK;
}

fbp_status fbp_stack_open(struct fbp_source *src, const struct fbp_raw *raw, fbp_open_view_fn *open)
{
    struct stack *s = NULL;

    FBP_TRY(fbp_calloc((void **)&s, 1, sizeof *s, "a stack of views"));
    pthread_mutex_init(&s->lock, NULL);
    s->open = open;
    src->state = s;
    src->close = close_stack;
    src->read = read_view;
    src->look = look;
    FBP_TRY(fbp_names_open(&s->names, src->path, raw && raw->type != FBP_TYPE_NONE));
    if (s->names.list && src->growing)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: a folder does not say how many views will come: name them by a "
                        "pattern, such as \"views/%%04d.tif 1 360\"",
                        src->path);
    if (raw && raw->type != FBP_TYPE_NONE)
        FBP_TRY(take_raw(src, raw));
    else
        FBP_TRY(take_first(src));
    src->info.n[2] = s->names.n;
    s->most_idle = src->reader_bytes > IDLE_BYTES / MOST_IDLE
                       ? (size_t)(IDLE_BYTES / src->reader_bytes) + (src->reader_bytes > IDLE_BYTES)
                       : MOST_IDLE;
    src->held_bytes = s->most_idle * src->reader_bytes;
    snprintf(src->info.format, sizeof src->info.format, "stack");
    snprintf(src->info.taken, sizeof src->info.taken, "%s", s->names.note);
    if (!src->growing)
        return check_all(src);
    return fbp_calloc((void **)&s->taken, src->info.n[2], sizeof *s->taken, "a table of views");
}
