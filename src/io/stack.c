/* Views in a file each.  The names are a pattern with two numbers, as MetaImage writes them. */
#include "io/stack.h"
#include "io/bytes.h"
#include "io/member.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The parts of "views/%04d.mha 1 360": texts of the pattern, lengths, numbers. */
struct pattern {
    const char *prefix, *suffix;
    int n_prefix, n_suffix, width;
    unsigned long long first, last;
};

/* What a file was when its view was taken. */
struct taken {
    dev_t device;
    ino_t inode;
    off_t bytes;
};

struct stack {
    struct pattern pattern;
    struct fbp_raw raw;   /* of one file; type NONE: files with headers */
    uint64_t view_bytes;  /* of a headerless file */
    pthread_mutex_t lock; /* one, view */
    fbp_source *one;      /* the file read last, of this view */
    size_t view;
    struct taken *taken; /* [n]; of a growing stack */
    size_t n_taken;
};

/* A number at the end of text[n], a blank before it; shortens n. */
static bool last_number(const char *text, size_t *n, unsigned long long *out)
{
    size_t at = *n;

    while (at > 0 && isdigit((unsigned char)text[at - 1]))
        at--;
    if (at == *n || *n - at > 15 || at == 0 || text[at - 1] != ' ')
        return false;
    *out = strtoull(text + at, NULL, 10);
    *n = at - 1;
    return true;
}

static bool parse(const char *path, struct pattern *out)
{
    size_t n = strlen(path);

    *out = (struct pattern){.prefix = path};
    if (!last_number(path, &n, &out->last) || !last_number(path, &n, &out->first))
        return false;
    const char *percent = memrchr(path, '%', n);
    if (!percent)
        return false;
    const char *p = percent + 1;
    if (p[0] == '0' && isdigit((unsigned char)p[1])) {
        out->width = p[1] - '0';
        p += 2;
    }
    if (*p != 'd' || p >= path + n)
        return false;
    out->suffix = p + 1;
    out->n_prefix = (int)(percent - path);
    out->n_suffix = (int)(path + n - out->suffix);
    return true;
}

bool fbp_stack_is(const char *path)
{
    struct pattern p;

    return parse(path, &p);
}

/* malloc'ed name of file k; NULL when out of memory. */
static char *name_of(const struct pattern *p, size_t k)
{
    return fbp_format("%.*s%0*llu%.*s", p->n_prefix, p->prefix, p->width, p->first + k, p->n_suffix,
                      p->suffix);
}

/* Its size, time and inode, if it is there. */
static bool look_at(const struct pattern *p, size_t k, struct stat *out)
{
    char *name = name_of(p, k);
    const bool found = name && stat(name, out) == 0;

    free(name);
    return found;
}

static size_t n_files(const struct pattern *p)
{
    return (size_t)(p->last - p->first + 1);
}

size_t fbp_stack_count(const char *pattern)
{
    struct pattern p;

    return parse(pattern, &p) && p.first <= p.last ? n_files(&p) : 0;
}

char *fbp_stack_name(const char *pattern, size_t k)
{
    struct pattern p;

    return parse(pattern, &p) && p.first <= p.last && k < n_files(&p) ? name_of(&p, k) : NULL;
}

bool fbp_stack_holds(const char *pattern, const char *file)
{
    struct pattern p;
    struct stat a, b;
    bool holds = false;

    if (!parse(pattern, &p) || p.last < p.first)
        return false;
    const bool is_there = stat(file, &b) == 0;
    for (size_t k = 0; !holds && k < n_files(&p); k++) {
        char *name = name_of(&p, k);
        holds = name && (strcmp(name, file) == 0 || (is_there && stat(name, &a) == 0 &&
                                                     a.st_dev == b.st_dev && a.st_ino == b.st_ino));
        free(name);
    }
    return holds;
}

static uint64_t hash_file(uint64_t h, const struct stat *s)
{
    const int64_t facts[3] = {(int64_t)s->st_size, (int64_t)s->st_mtim.tv_sec,
                              (int64_t)s->st_mtim.tv_nsec};

    return fbp_hash(h, facts, sizeof facts);
}

/* An array inside a file changes with the file. */
static uint64_t hash_one(uint64_t h, const char *path)
{
    char *file, *member;
    struct stat s;

    if (fbp_member_split(path, &file, &member) != FBP_OK)
        return h;
    if (stat(file, &s) == 0)
        h = hash_file(h, &s);
    free(file);
    free(member);
    return h;
}

uint64_t fbp_stack_hash(uint64_t h, const char *path)
{
    struct pattern p;
    struct stat s;

    if (!parse(path, &p))
        return hash_one(h, path);
    for (size_t k = 0; p.first <= p.last && k < n_files(&p); k++) {
        if (!look_at(&p, k, &s))
            s = (struct stat){0};
        h = hash_file(h, &s);
    }
    return h;
}

/* One view's file, which must be as the others. */
static fbp_status open_view(const struct fbp_source *src, size_t k, fbp_source **out)
{
    const struct stack *s = src->state;
    char *name = name_of(&s->pattern, k);

    if (!name)
        return fbp_fail_nomem(strlen(src->path), "a path");
    const fbp_status st = fbp_source_open(out, name, &s->raw);
    free(name);
    FBP_TRY(st);
    const struct fbp_array_info *a = &(*out)->info, *b = &src->info;
    if (b->n[0] == 0 || (a->n[0] == b->n[0] && a->n[1] == b->n[1] && a->n[2] == 1 &&
                         a->type == b->type && a->row_order == b->row_order))
        return FBP_OK;
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
    FBP_TRY(fbp_read_at(one->fd, one->path, one->offset + row0 * row, out, n_rows * row));
    if (fbp_is_foreign(one->info.big_endian))
        fbp_swap_bytes(out, size, n_rows * one->info.n[0]);
    return FBP_OK;
}

/* The file stays open, as its next rows may be wanted next. */
static fbp_status read_view(fbp_source *src, size_t slice, size_t row0, size_t n_rows, void *out)
{
    struct stack *s = src->state;
    fbp_status st = FBP_OK;

    pthread_mutex_lock(&s->lock);
    if (s->one && s->view != slice)
        fbp_source_close(&s->one);
    if (!s->one)
        st = open_view(src, slice, &s->one);
    s->view = slice;
    if (st == FBP_OK)
        st = read_rows(s->one, row0, n_rows, out);
    pthread_mutex_unlock(&s->lock);
    return st;
}

static void close_stack(fbp_source *src)
{
    struct stack *s = src->state;

    fbp_source_close(&s->one);
    pthread_mutex_destroy(&s->lock);
    free(s->taken);
    free(s);
}

/* Size and type from the description of headerless files. */
static fbp_status take_raw(struct fbp_source *src, const struct fbp_raw *raw)
{
    struct stack *s = src->state;
    const size_t n = n_files(&s->pattern);

    if (raw->n[2] != 0 && raw->n[2] != n)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: raw describes %zu views, the pattern names %zu files: correct one of "
                        "them",
                        src->path, raw->n[2], n);
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
    const bool compressed = one->in_order;
    fbp_source_close(&one);
    if (src->growing && compressed)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: its views are compressed: compressed files cannot be followed while "
                        "they come: write them without compression",
                        src->path);
    if (src->info.n[2] != 1)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: number %llu holds %zu views: a pattern is for files of one view each",
                        src->path, s->pattern.first, src->info.n[2]);
    return FBP_OK;
}

static fbp_status check_all(const struct fbp_source *src)
{
    for (size_t k = 0; k < src->info.n[2]; k++) {
        fbp_source *one = NULL;
        FBP_TRY(open_view(src, k, &one));
        fbp_source_close(&one);
    }
    return FBP_OK;
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

    if (look_at(&s->pattern, k, &is) && is.st_dev == was->device && is.st_ino == was->inode &&
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
        complete = look_at(&s->pattern, s->n_taken, &file);
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

fbp_status fbp_stack_open(struct fbp_source *src, const struct fbp_raw *raw)
{
    struct stack *s = NULL;

    FBP_TRY(fbp_calloc((void **)&s, 1, sizeof *s, "a stack of views"));
    pthread_mutex_init(&s->lock, NULL);
    src->state = s;
    src->close = close_stack;
    src->read = read_view;
    src->look = look;
    if (!parse(src->path, &s->pattern) || s->pattern.last < s->pattern.first)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: the last number is below the first: expected a pattern such as "
                        "\"views/%%04d.mha 1 360\"",
                        src->path);
    if (raw && raw->type != FBP_TYPE_NONE)
        FBP_TRY(take_raw(src, raw));
    else
        FBP_TRY(take_first(src));
    src->info.n[2] = n_files(&s->pattern);
    snprintf(src->info.format, sizeof src->info.format, "stack");
    if (!src->growing)
        return check_all(src);
    return fbp_calloc((void **)&s->taken, src->info.n[2], sizeof *s->taken, "a table of views");
}
