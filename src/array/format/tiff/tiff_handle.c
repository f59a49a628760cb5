/* libtiff over a shared descriptor, without its global state; bands of decoded rows. */
#include "array/file/bytes.h"
#include "array/format/tiff/tiff.h"

#include "base/base.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Beyond the file's own size no table that libtiff reads can be true. */
enum { SPARE_BYTES = 64 << 20 };

static tmsize_t read_some(thandle_t handle, void *buf, tmsize_t n)
{
    struct fbp_tiff *t = handle;
    size_t got = 0;
    const uint64_t left = t->pos < t->size ? t->size - t->pos : 0;
    const size_t take = (uint64_t)n < left ? (size_t)n : (size_t)left;
    const fbp_status st = fbp_tiff_take(t, t->pos, buf, take, &got);

    if (st != FBP_OK && t->failed == FBP_OK)
        t->failed = st;
    fbp_tiff_put_mask(t, t->pos, buf, got);
    t->pos += got;
    return (tmsize_t)got;
}

static tmsize_t write_none(thandle_t handle, void *buf, tmsize_t n)
{
    (void)handle;
    (void)buf;
    (void)n;
    return 0;
}

static toff_t seek_to(thandle_t handle, toff_t offset, int whence)
{
    struct fbp_tiff *t = handle;
    const uint64_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? t->pos : t->size;

    t->pos = base + offset;
    if (t->pos > INT64_MAX)
        t->pos = INT64_MAX;
    return t->pos;
}

static int close_none(thandle_t handle)
{
    (void)handle;
    return 0;
}

static toff_t size_of(thandle_t handle)
{
    const struct fbp_tiff *t = handle;

    return t->size;
}

/* libtiff tells handlers of each handle since 4.5; before, handlers are the process's, and all that
 * can be done is to keep it silent. */
#if TIFFLIB_VERSION >= 20221213

/* libtiff says so, and goes on: without a tag, or with tables that are not there (4.5.0, where the
 * fields of a codec are merged).  It is not let go on, and its handle is never touched again. */
static void look_for_memory(struct fbp_tiff *t, const char *text)
{
    static const char *const signs[] = {"memory", "alloc", "o space for", "Insertion in",
                                        "Merging"};
    bool found = false;

    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        found |= strstr(text, signs[i]) != NULL;
    if (!found)
        return;
    if (t->failed == FBP_OK)
        t->failed = fbp_fail(FBP_ERR_NOMEM, "%s: TIFF: not enough memory: %s: close other programs",
                             t->path, text);
    if (t->out)
        longjmp(*t->out, 1);
}

static int remember(TIFF *tif, void *user, const char *module, const char *fmt, va_list ap)
{
    struct fbp_tiff *t = user;

    (void)tif;
    (void)module;
    char text[sizeof t->error];

    vsnprintf(text, sizeof text, fmt, ap);
    look_for_memory(t, text);
    if (!t->error[0])
        memcpy(t->error, text, sizeof text);
    return 1;
}

static int ignore(TIFF *tif, void *user, const char *module, const char *fmt, va_list ap)
{
    char text[200];

    (void)tif;
    (void)module;
    vsnprintf(text, sizeof text, fmt, ap);
    look_for_memory(user, text);
    return 1;
}

static TIFF *open_client(struct fbp_tiff *t)
{
    TIFFOpenOptions *o = TIFFOpenOptionsAlloc();

    if (!o)
        return NULL;
    TIFFOpenOptionsSetMaxSingleMemAlloc(o, (tmsize_t)(t->size + SPARE_BYTES));
    TIFFOpenOptionsSetErrorHandlerExtR(o, remember, t);
    TIFFOpenOptionsSetWarningHandlerExtR(o, ignore, t);
    TIFF *tif = TIFFClientOpenExt(t->path, "rmc", t, read_some, write_none, seek_to, close_none,
                                  size_of, NULL, NULL, o);
    TIFFOpenOptionsFree(o);
    return tif;
}

#else

static TIFF *open_client(struct fbp_tiff *t)
{
    TIFFSetErrorHandler(NULL);
    TIFFSetWarningHandler(NULL);
    return TIFFClientOpen(t->path, "rmc", t, read_some, write_none, seek_to, close_none, size_of,
                          NULL, NULL);
}

#endif

fbp_status fbp_tiff_fail(const struct fbp_tiff *t, const char *what)
{
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: TIFF: %s%s%s: the file is damaged or truncated%s: copy it "
                    "again",
                    t->path, what, t->error[0] ? ": " : "", t->error,
                    t->error[0] ? "" : ", or there was not enough memory");
}

fbp_status fbp_tiff_check(const struct fbp_tiff *t, bool done, const char *what)
{
    if (t->failed != FBP_OK)
        return t->failed;
    return done ? FBP_OK : fbp_tiff_fail(t, what);
}

/* What libtiff is asked for; its arguments. */
struct call {
    bool (*fn)(struct fbp_tiff *t, const struct call *c);
    uint64_t at;
    uint32_t index;
    void *to;
    tmsize_t bytes;
};

/* Nothing here changes between setjmp() and longjmp(). */
static bool enter(struct fbp_tiff *t, const struct call *c)
{
    jmp_buf out;

    if (setjmp(out) != 0) {
        t->out = NULL;
        t->abandoned = true;
        return false;
    }
    t->out = &out;
    const bool done = c->fn(t, c);
    t->out = NULL;
    return done;
}

static bool open_it(struct fbp_tiff *t, const struct call *c)
{
    (void)c;
    t->tif = open_client(t);
    return t->tif != NULL;
}

static bool set_directory(struct fbp_tiff *t, const struct call *c)
{
    return TIFFSetSubDirectory(t->tif, c->at) != 0;
}

static bool read_directory(struct fbp_tiff *t, const struct call *c)
{
    (void)c;
    return TIFFReadDirectory(t->tif) != 0;
}

static bool read_strip(struct fbp_tiff *t, const struct call *c)
{
    return TIFFReadEncodedStrip(t->tif, c->index, c->to, c->bytes) == c->bytes;
}

static bool read_tile(struct fbp_tiff *t, const struct call *c)
{
    return TIFFReadEncodedTile(t->tif, c->index, c->to, c->bytes) == c->bytes;
}

fbp_status fbp_tiff_open(struct fbp_tiff **out, int fd, const char *path, uint64_t size)
{
    struct fbp_tiff *t = NULL;
    fbp_status st = FBP_OK;

    *out = NULL;
    FBP_TRY(fbp_calloc((void **)&t, 1, sizeof *t, "a TIFF file"));
    t->fd = fd;
    t->path = path;
    t->size = size;
    st = fbp_tiff_mask_first(t);
    if (st == FBP_OK)
        st = fbp_tiff_check(t, enter(t, &(struct call){.fn = open_it}), "cannot be opened");
    if (st == FBP_OK)
        *out = t;
    else
        fbp_tiff_close(&t);
    return st;
}

void fbp_tiff_close(struct fbp_tiff **t)
{
    if (!*t)
        return;
    if ((*t)->tif && !(*t)->abandoned)
        TIFFClose((*t)->tif);
    fbp_free((*t)->samples);
    fbp_free((*t)->tile);
    free(*t);
    *t = NULL;
}

static fbp_status grow(void **buf, size_t *has, size_t bytes, const char *what)
{
    if (*has >= bytes)
        return FBP_OK;
    fbp_free(*buf);
    *buf = NULL;
    *has = 0;
    FBP_TRY(fbp_alloc(buf, bytes, what));
    *has = bytes;
    return FBP_OK;
}

static size_t rows_of(const struct fbp_tiff_page *p, uint32_t band)
{
    const uint32_t left = p->h - band * p->band_rows;

    return left < p->band_rows ? left : p->band_rows;
}

uint64_t fbp_tiff_band_bytes(const struct fbp_tiff_page *p)
{
    const uint64_t size = fbp_type_size(p->type), rows = p->band_rows < p->h ? p->band_rows : p->h;

    return 2 * size * rows * p->w + 2 * size * p->band_rows * p->tile_w;
}

fbp_status fbp_tiff_go_to(struct fbp_tiff *t, uint64_t at, const char *what)
{
    FBP_TRY(fbp_tiff_check(t, true, what));
    FBP_TRY(fbp_tiff_mask(t, at));
    t->error[0] = '\0';
    return fbp_tiff_check(t, enter(t, &(struct call){.fn = set_directory, .at = at}), what);
}

fbp_status fbp_tiff_go_on(struct fbp_tiff *t)
{
    FBP_TRY(fbp_tiff_mask(t, t->next_at));
    t->error[0] = '\0';
    return fbp_tiff_check(t, enter(t, &(struct call){.fn = read_directory}),
                          "the directory of a page cannot be read");
}

static fbp_status go_to(struct fbp_tiff *t, uint64_t at)
{
    if (t->at == at)
        return FBP_OK;
    t->at = 0;
    t->has_band = false;
    FBP_TRY(fbp_tiff_go_to(t, at, "a page cannot be read"));
    FBP_TRY(fbp_tiff_describe(t, 0, &t->page));
    t->at = at;
    return FBP_OK;
}

static fbp_status decode_strip(struct fbp_tiff *t, uint32_t band, void *out)
{
    const tmsize_t bytes =
        (tmsize_t)(rows_of(&t->page, band) * t->page.w * fbp_type_size(t->page.type));

    t->error[0] = '\0';
    const struct call c = {.fn = read_strip, .index = band, .to = out, .bytes = bytes};
    return fbp_tiff_check(t, enter(t, &c), "a strip cannot be decoded");
}

/* One row of tiles, the last of which may reach beyond the page. */
static fbp_status decode_tiles(struct fbp_tiff *t, uint32_t band, char *out)
{
    const struct fbp_tiff_page *p = &t->page;
    const size_t size = fbp_type_size(p->type), rows = rows_of(p, band);
    const tmsize_t bytes = TIFFTileSize(t->tif);
    const uint32_t across = (p->w - 1) / p->tile_w + 1;

    FBP_TRY(grow(&t->tile, &t->tile_bytes, (size_t)bytes, "a tile"));
    t->error[0] = '\0';
    for (uint32_t i = 0; i < across; i++) {
        const size_t x = (size_t)i * p->tile_w, left = p->w - x;
        const size_t n = left < p->tile_w ? left : p->tile_w;
        const struct call c = {
            .fn = read_tile, .index = band * across + i, .to = t->tile, .bytes = bytes};
        FBP_TRY(fbp_tiff_check(t, enter(t, &c), "a tile cannot be decoded"));
        for (size_t r = 0; r < rows; r++)
            memcpy(out + (r * p->w + x) * size, (char *)t->tile + r * p->tile_w * size, n * size);
    }
    return FBP_OK;
}

static fbp_status decode(struct fbp_tiff *t, uint32_t band, void *out)
{
    return t->page.tile_w ? decode_tiles(t, band, out) : decode_strip(t, band, out);
}

/* Into the handle's own buffer, as the next rows may be of the same band. */
static fbp_status take_band(struct fbp_tiff *t, uint32_t band)
{
    const size_t row = t->page.w * fbp_type_size(t->page.type);

    if (t->has_band && t->band == band)
        return FBP_OK;
    t->has_band = false;
    FBP_TRY(grow(&t->samples, &t->samples_bytes, rows_of(&t->page, band) * row, "rows of samples"));
    FBP_TRY(decode(t, band, t->samples));
    t->band = band;
    t->has_band = true;
    return FBP_OK;
}

fbp_status fbp_tiff_read(struct fbp_tiff *t, uint64_t at, size_t row0, size_t n, void *out)
{
    FBP_TRY(go_to(t, at));
    const size_t row = t->page.w * fbp_type_size(t->page.type);
    char *to = out;

    for (size_t r = row0; r < row0 + n;) {
        const uint32_t band = (uint32_t)(r / t->page.band_rows);
        const size_t first = (size_t)band * t->page.band_rows, rows = rows_of(&t->page, band);
        const size_t end = first + rows < row0 + n ? first + rows : row0 + n;
        if (r == first && end == first + rows) {
            FBP_TRY(decode(t, band, to));
        } else {
            FBP_TRY(take_band(t, band));
            memcpy(to, (char *)t->samples + (r - first) * row, (end - r) * row);
        }
        to += (end - r) * row;
        r = end;
    }
    return FBP_OK;
}
