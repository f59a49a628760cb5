/* Samples in several files, by a list of names or a pattern with three numbers: each file holds one
 * slice or, with a last number 3, several. */
#include "array/file/bytes.h"
#include "array/format/nrrd/nrrd.h"

#include "base/base.h"
#include "base/text.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* "slice%03d.raw 1 100 1 2": file k has the number first + k * step. */
struct pattern {
    int n_prefix, width;
    bool zeros;
    const char *suffix;
    int n_suffix;
    long long first, last, step, slice_dim;
};

struct parts {
    pthread_mutex_t lock; /* one, k */
    char *base;           /* the header's path */
    struct nrrd_data data;
    char *text;  /* the pattern, or the list */
    char **name; /* [n] into text; NULL: a pattern */
    struct pattern pattern;
    size_t n;        /* files */
    size_t n_slices; /* of each */
    fbp_source *one; /* the file read last */
    size_t k;
};

/* A number at the end of text[n], a blank before it; shortens n. */
static bool last_number(const char *text, size_t *n, long long *out)
{
    size_t at = *n, digits;

    while (at > 0 && isdigit((unsigned char)text[at - 1]))
        at--;
    digits = *n - at;
    if (digits > 0 && at > 0 && text[at - 1] == '-')
        at--;
    if (digits == 0 || digits > 15 || at == 0 || !isblank((unsigned char)text[at - 1]))
        return false;
    *out = strtoll(text + at, NULL, 10);
    while (at > 0 && isblank((unsigned char)text[at - 1]))
        at--;
    *n = at;
    return true;
}

static bool parse_pattern(const char *text, struct pattern *out)
{
    long long v[4];
    size_t n = strlen(text), count = 0;

    *out = (struct pattern){0};
    while (count < 4 && last_number(text, &n, &v[count]))
        count++;
    const char *percent = memchr(text, '%', n), *p = percent;
    if (count < 3 || !percent)
        return false;
    out->zeros = *++p == '0';
    for (; isdigit((unsigned char)*p) && out->width < 100; p++)
        out->width = 10 * out->width + (*p - '0');
    if (p >= text + n || !strchr("diu", *p) || out->width > 20)
        return false;
    out->n_prefix = (int)(percent - text);
    out->suffix = p + 1;
    out->n_suffix = (int)(text + n - out->suffix);
    out->slice_dim = count == 4 ? v[0] : 0;
    out->first = v[count - 1];
    out->last = v[count - 2];
    out->step = v[count - 3];
    return true;
}

bool fbp_nrrd_is_many(const struct nrrd_header *h)
{
    struct pattern p;

    return h->list || parse_pattern(h->data_file, &p);
}

/* malloc'ed name of file k beside the header; NULL when out of memory. */
static char *name_of(const struct parts *s, size_t k)
{
    const struct pattern *p = &s->pattern;
    char *path, *name;

    if (s->name)
        return fbp_path_join(s->base, s->name[k]);
    const long long number = p->first + (long long)k * p->step;
    name = fbp_format(p->zeros ? "%.*s%0*lld%.*s" : "%.*s%*lld%.*s", p->n_prefix, s->text, p->width,
                      number, p->n_suffix, p->suffix);
    path = name ? fbp_path_join(s->base, name) : NULL;
    free(name);
    return path;
}

static fbp_status open_part(const struct fbp_source *src, size_t k, fbp_source **out)
{
    const struct parts *s = src->state;
    fbp_source *one = NULL;
    uint64_t size = 0;
    fbp_status st;

    FBP_TRY(fbp_calloc((void **)&one, 1, sizeof *one, "a source"));
    one->fd = -1;
    one->info = src->info;
    one->info.n[2] = s->n_slices;
    one->path = name_of(s, k);
    if (!one->path) {
        st = fbp_fail_nomem(strlen(src->path), "a path");
        goto fail;
    }
    FBP_TRY_GOTO(fbp_open_file(one->path, &one->fd, &size));
    FBP_TRY_GOTO(fbp_nrrd_place(one, &s->data, 0));
    *out = one;
    return FBP_OK;
fail:
    fbp_source_close(&one);
    return st;
}

/* The file stays open, as its next rows may be wanted next. */
static fbp_status read_part(fbp_source *src, size_t slice, size_t row0, size_t n_rows, void *out)
{
    struct parts *s = src->state;
    const size_t k = slice / s->n_slices;
    fbp_status st = FBP_OK;

    pthread_mutex_lock(&s->lock);
    if (s->one && s->k != k)
        fbp_source_close(&s->one);
    if (!s->one)
        st = open_part(src, k, &s->one);
    s->k = k;
    if (st == FBP_OK)
        st = fbp_source_read_as_is(s->one, slice % s->n_slices, 1, row0, n_rows, out);
    pthread_mutex_unlock(&s->lock);
    return st;
}

static void close_parts(fbp_source *src)
{
    struct parts *s = src->state;

    fbp_source_close(&s->one);
    pthread_mutex_destroy(&s->lock);
    free(s->base);
    free(s->text);
    free(s->name);
    free(s);
    src->state = NULL;
}

/* One name a line, up to an empty one. */
static fbp_status take_list(struct parts *s, const struct nrrd_header *h)
{
    size_t n = 1, value = strlen(h->data_file);
    long long slice_dim = 0;

    s->text = fbp_strdup(h->list);
    if (!s->text)
        return fbp_fail_nomem(strlen(h->list), "a list of names");
    for (const char *p = s->text; (p = strchr(p, '\n')); p++)
        n++;
    FBP_TRY(fbp_calloc((void **)&s->name, n, sizeof *s->name, "a list of names"));
    for (char *line = s->text; line;) {
        char *next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        line[strcspn(line, "\r")] = '\0';
        if (!*line)
            break;
        s->name[s->n++] = line;
        line = next;
    }
    if (last_number(h->data_file, &value, &slice_dim))
        s->pattern.slice_dim = slice_dim;
    return FBP_OK;
}

static fbp_status take_pattern(struct parts *s, const char *path, const struct nrrd_header *h)
{
    struct pattern *p = &s->pattern;

    s->text = fbp_strdup(h->data_file);
    if (!s->text)
        return fbp_fail_nomem(strlen(h->data_file), "a pattern of names");
    (void)parse_pattern(s->text, p); /* it is one: fbp_nrrd_is_many() */
    if (p->step == 0 || (p->step > 0) != (p->last >= p->first) ||
        (p->last - p->first) % p->step != 0)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: NRRD header: data file: %s: steps of %lld do not lead from %lld to "
                        "%lld: correct the numbers",
                        path, h->data_file, p->step, p->first, p->last);
    s->n = (size_t)((p->last - p->first) / p->step) + 1;
    return FBP_OK;
}

/* How many slices a file holds. */
static fbp_status divide(const struct fbp_source *src, struct parts *s, size_t dim)
{
    const long long slice_dim = s->pattern.slice_dim ? s->pattern.slice_dim : (long long)dim - 1;
    const size_t n = src->info.n[2];

    if (slice_dim < 2 || slice_dim > (long long)dim)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: NRRD header: files of %lld axes each are not supported: a slice or "
                        "several in each file are needed",
                        src->path, slice_dim);
    if (s->n == 0 || n % s->n != 0 || (slice_dim < (long long)dim && s->n != n))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: NRRD header: %zu files cannot hold %zu slices, the same number each: "
                        "correct \"data file\" or \"sizes\"",
                        src->path, s->n, n);
    s->n_slices = n / s->n;
    return FBP_OK;
}

static fbp_status check_all(struct fbp_source *src)
{
    const struct parts *s = src->state;

    for (size_t k = 0; k < s->n; k++) {
        fbp_source *one = NULL;
        fbp_status st = open_part(src, k, &one);
        if (st == FBP_OK)
            st = fbp_inputs_add(&src->inputs, one->path);
        fbp_source_close(&one);
        if (st != FBP_OK) {
            char why[512];
            snprintf(why, sizeof why, "%s", fbp_message());
            fbp_message_clear();
            return fbp_fail(st, "%s: its samples: %s", src->path, why);
        }
    }
    return FBP_OK;
}

fbp_status fbp_nrrd_open_many(struct fbp_source *src, const struct nrrd_data *data,
                              const struct nrrd_header *h)
{
    struct parts *s = NULL;

    if (src->growing)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: its samples are in several files: they cannot be followed while they "
                        "come: name them in the scan file, as a pattern",
                        src->path);
    FBP_TRY(fbp_calloc((void **)&s, 1, sizeof *s, "a list of files"));
    pthread_mutex_init(&s->lock, NULL);
    src->state = s;
    src->close = close_parts;
    src->read = read_part;
    src->in_order = data->gzip;
    s->data = *data;
    s->base = fbp_strdup(src->path);
    if (!s->base)
        return fbp_fail_nomem(strlen(src->path), "a path");
    if (h->list)
        FBP_TRY(take_list(s, h));
    else
        FBP_TRY(take_pattern(s, src->path, h));
    FBP_TRY(divide(src, s, h->dim));
    return check_all(src);
}
