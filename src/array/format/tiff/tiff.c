/* TIFF and BigTIFF: a page a slice.  Pages that are not compressed are read past libtiff. */
#include "array/format/tiff/tiff.h"
#include "array/file/describe.h"
#include "array/file/values.h"
#include "array/format/optional.h"
#include "array/format/tiff/imagej.h"

#include "base/base.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* Where a page is: its samples, or the directory that libtiff needs. */
struct place {
    uint64_t at;
    bool plain;
};

struct pages {
    struct place *places; /* [n], with room for `room` */
    size_t n, room;
    uint64_t size; /* of the file */
    pthread_mutex_t lock;
    struct fbp_tiff *idle; /* handles that nobody uses; under `lock` */
};

/* A handle for this thread: the one that stands on that page, else any, else a new one. */
static fbp_status get_handle(fbp_source *src, uint64_t at, struct fbp_tiff **out)
{
    struct pages *s = src->state;
    struct fbp_tiff **p, *t;

    pthread_mutex_lock(&s->lock);
    for (p = &s->idle; *p && (*p)->at != at;)
        p = &(*p)->next;
    if (!*p)
        p = &s->idle;
    t = *p;
    if (t)
        *p = t->next;
    pthread_mutex_unlock(&s->lock);
    *out = t;
    return t ? FBP_OK : fbp_tiff_open(out, src->fd, src->path, s->size);
}

static void put_handle(struct pages *s, struct fbp_tiff *t)
{
    pthread_mutex_lock(&s->lock);
    t->next = s->idle;
    s->idle = t;
    pthread_mutex_unlock(&s->lock);
}

static fbp_status read_page(fbp_source *src, size_t slice, size_t row0, size_t n_rows, void *out)
{
    struct pages *s = src->state;
    const struct place *p = &s->places[slice];
    const size_t size = fbp_type_size(src->info.type), nx = src->info.n[0];
    struct fbp_tiff *t = NULL;

    if (p->plain)
        return fbp_read_numbers(src->fd, src->path, p->at + row0 * nx * size, &src->info,
                                n_rows * nx, out);
    FBP_TRY(get_handle(src, p->at, &t));
    const fbp_status st = fbp_tiff_read(t, p->at, row0, n_rows, out);
    put_handle(s, t);
    return st;
}

static void close_pages(fbp_source *src)
{
    struct pages *s = src->state;

    while (s->idle) {
        struct fbp_tiff *t = s->idle;
        s->idle = t->next;
        fbp_tiff_close(&t);
    }
    pthread_mutex_destroy(&s->lock);
    free(s->places);
    free(s);
}

static fbp_status add_place(struct pages *s, const struct fbp_tiff_page *page)
{
    if (s->n == s->room) {
        const size_t room = s->room ? 2 * s->room : 16;
        struct place *more = realloc(s->places, room * sizeof *more);
        if (!more)
            return fbp_fail_nomem(room * sizeof *more, "a table of pages");
        s->places = more;
        s->room = room;
    }
    s->places[s->n++] = (struct place){page->at, page->plain};
    return FBP_OK;
}

/* The first page says what all are. */
static fbp_status take_page(fbp_source *src, const struct fbp_tiff *t, size_t k,
                            const struct fbp_tiff_page *p)
{
    struct fbp_array_info *i = &src->info;
    const enum fbp_row_order order = p->top_down ? FBP_ROWS_TOP_DOWN : FBP_ROWS_BOTTOM_UP;

    if (k == 0) {
        i->n[0] = p->w;
        i->n[1] = p->h;
        i->type = p->type;
        i->big_endian = TIFFIsBigEndian(t->tif) != 0;
        i->row_order = order;
    }
    if (i->row_order != order)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: TIFF page %zu has row 0 at the %s (Orientation %d), the first page at "
                        "the %s: save pages that are alike",
                        src->path, k, p->top_down ? "top" : "bottom", p->top_down ? 1 : 4,
                        p->top_down ? "bottom" : "top");
    if (i->n[0] != p->w || i->n[1] != p->h || i->type != p->type)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: TIFF page %zu is %u x %u %s, the first is %zu x %zu %s: save pages "
                        "that are alike",
                        src->path, k, p->w, p->h, fbp_type_name(p->type), i->n[0], i->n[1],
                        fbp_type_name(i->type));
    if (!p->plain && fbp_tiff_band_bytes(p) > src->reader_bytes)
        src->reader_bytes = fbp_tiff_band_bytes(p);
    src->unpacks |= !p->plain;
    return add_place(src->state, p);
}

/* Thumbnails and masks are no slices. */
static bool is_extra(const struct fbp_tiff *t)
{
    uint32_t kind = 0;

    TIFFGetField(t->tif, TIFFTAG_SUBFILETYPE, &kind);
    return (kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) != 0;
}

static fbp_status take_pages(fbp_source *src, struct fbp_tiff *t)
{
    struct fbp_tiff_page page;
    size_t k = 0;
    bool more = true;

    for (; more; k++) {
        if (!is_extra(t)) {
            FBP_TRY(fbp_tiff_describe(t, k, &page));
            FBP_TRY(take_page(src, t, ((struct pages *)src->state)->n, &page));
        }
        more = !TIFFLastDirectory(t->tif);
        if (more)
            FBP_TRY(fbp_tiff_go_on(t));
    }
    if (((struct pages *)src->state)->n == 0)
        return fbp_fail(FBP_ERR_INVALID, "%s: TIFF: holds thumbnails or masks only", src->path);
    return FBP_OK;
}

/* ImageJ writes stacks beyond 4 GiB with one directory, "images=N" and the samples in one run.  So
 * does tifffile, told to truncate: {"shape": [40, 64, 96], "truncated": true}
 */
static size_t shaped_slices(const char *text, size_t n, uint64_t page_samples)
{
    static const char first[] = "{\"shape\": [", key[] = "\"truncated\": true";
    const char *p = text + sizeof first - 1;
    uint64_t all = 1;

    if (n < sizeof first || strncmp(text, first, sizeof first - 1) != 0 ||
        !memmem(text, n, key, sizeof key - 1))
        return 1;
    for (char *end = NULL; *p && *p != ']'; p = end + strspn(end, ", ")) {
        const unsigned long long size = strtoull(p, &end, 10);
        if (end == p || __builtin_mul_overflow(all, size, &all))
            return 1;
    }
    all /= page_samples;
    return all > 1 && all < UINT32_MAX ? (size_t)all : 1;
}

/* Where the one directory stands for several slices, they are to be there.  A page that was taken
 * out of a stack keeps its description; what does that writes directories behind the samples. */
static fbp_status take_slices(fbp_source *src, const struct fbp_tiff *t, const char *text)
{
    const struct pages *s = src->state;
    struct fbp_array_info *i = &src->info;
    const uint64_t samples = (uint64_t)i->n[0] * i->n[1], at = s->places[0].at;
    const uint64_t room = (s->size - at) / (samples * fbp_type_size(i->type));
    size_t slices = fbp_imagej_slices(text, strlen(text));

    if (slices == 1)
        slices = shaped_slices(text, strlen(text), samples);
    if (room >= slices)
        i->n[2] = slices;
    else if (TIFFCurrentDirOffset(t->tif) < at)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: TIFF: its description tells of %zu slices, there is room for %llu: it "
                        "is truncated, copy it again",
                        src->path, slices, (unsigned long long)room);
    return FBP_OK;
}

/* Our line, or those of ImageJ or tifffile, in the first page's description. */
static fbp_status take_text(fbp_source *src, const struct fbp_tiff *t, const char *text)
{
    const struct pages *s = src->state;
    float per_unit[2] = {0};
    bool ours = false;

    TIFFGetField(t->tif, TIFFTAG_XRESOLUTION, &per_unit[0]);
    TIFFGetField(t->tif, TIFFTAG_YRESOLUTION, &per_unit[1]);
    const double per[2] = {(double)per_unit[0], (double)per_unit[1]};
    const size_t n = strlen(text);
    src->info.n[2] = s->n;
    FBP_TRY(fbp_imagej_described(text, n, per, &src->info, &ours));
    if (!ours)
        FBP_TRY(fbp_described(text, n, false, &src->info, &ours));
    return s->n == 1 && s->places[0].plain ? take_slices(src, t, text) : FBP_OK;
}

static fbp_status take_description(fbp_source *src, const struct fbp_tiff *t)
{
    char *text = NULL;

    FBP_TRY(fbp_tiff_text(t, &text));
    const fbp_status st = text ? take_text(src, t, text) : FBP_OK;
    free(text);
    return st;
}

/* Samples of all pages in one run: array/source.c reads them. */
static bool is_one_run(const fbp_source *src)
{
    const struct pages *s = src->state;
    const uint64_t page = (uint64_t)src->info.n[0] * src->info.n[1] * fbp_type_size(src->info.type);

    for (size_t k = 0; k < s->n; k++)
        if (!s->places[k].plain || s->places[k].at != s->places[0].at + k * page)
            return false;
    return true;
}

static fbp_status open_pages(fbp_source *src)
{
    struct pages *s = src->state;
    struct fbp_tiff *t = NULL;
    fbp_status st;

    FBP_TRY(fbp_tiff_open(&t, src->fd, src->path, s->size));
    FBP_TRY_GOTO(take_pages(src, t));
    src->info.n[2] = s->n;
    FBP_TRY_GOTO(fbp_tiff_go_to(t, t->first, "its first page cannot be read"));
    FBP_TRY_GOTO(take_description(src, t));
    if (!is_one_run(src)) {
        put_handle(s, t);
        return FBP_OK;
    }
    src->offset = s->places[0].at;
    fbp_tiff_close(&t);
    close_pages(src);
    src->state = NULL;
    src->close = NULL;
    src->read = NULL;
    return FBP_OK;
fail:
    fbp_tiff_close(&t);
    return st;
}

static fbp_status open_tiff(struct fbp_source *src)
{
    const off_t end = lseek(src->fd, 0, SEEK_END);
    struct pages *s = NULL;

    if (src->growing)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: a TIFF file cannot be followed while it grows: write one file a view",
                        src->path);
    FBP_TRY(fbp_calloc((void **)&s, 1, sizeof *s, "a table of pages"));
    pthread_mutex_init(&s->lock, NULL);
    s->size = end < 0 ? 0 : (uint64_t)end;
    src->state = s;
    src->close = close_pages;
    src->read = read_page;
    return open_pages(src);
}

const struct fbp_format fbp_format_tiff = {
    .name = "tiff",
    .title = "TIFF",
    .extensions = FBP_TIFF_NAMES,
    .detect = fbp_tiff_detect,
    .open = open_tiff,
    .files = fbp_tiff_files,
    .slices = &fbp_tiff_slices,
};
