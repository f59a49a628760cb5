/* libtiff over a shared descriptor, without its global state; bands of decoded rows. */
#include "io/bytes.h"
#include "io/tiff.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Beyond the file's own size no table that libtiff reads can be true. */
enum { SPARE_BYTES = 64 << 20 };

static tmsize_t read_some(thandle_t handle, void *buf, tmsize_t n)
{
    struct fbp_tiff *t = handle;
    tmsize_t done = 0;

    while (done < n) {
        const ssize_t got = pread(t->fd, (char *)buf + done, (size_t)(n - done), (off_t)t->pos);
        if (got <= 0)
            break;
        done += got;
        t->pos += (uint64_t)got;
    }
    return done;
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

static int remember(TIFF *tif, void *user, const char *module, const char *fmt, va_list ap)
{
    struct fbp_tiff *t = user;

    (void)tif;
    (void)module;
    if (!t->error[0])
        vsnprintf(t->error, sizeof t->error, fmt, ap);
    return 1;
}

static int ignore(TIFF *tif, void *user, const char *module, const char *fmt, va_list ap)
{
    (void)tif;
    (void)user;
    (void)module;
    (void)fmt;
    (void)ap;
    return 1;
}

static TIFF *open_client(struct fbp_tiff *t)
{
    TIFFOpenOptions *o = TIFFOpenOptionsAlloc();

    if (!o)
        return NULL;
    TIFFOpenOptionsSetMaxSingleMemAlloc(o, (tmsize_t)(t->size + SPARE_BYTES));
    TIFFOpenOptionsSetErrorHandlerExtR(o, remember, t);
    TIFFOpenOptionsSetWarningHandlerExtR(o, ignore, NULL);
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
                    "%s: TIFF: %s%s%s: the file is damaged or truncated: copy it "
                    "again",
                    t->path, what, t->error[0] ? ": " : "", t->error);
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
    t->tif = open_client(t);
    if (!t->tif) {
        st = fbp_tiff_fail(t, "cannot be opened");
        fbp_tiff_close(&t);
        return st;
    }
    *out = t;
    return FBP_OK;
}

void fbp_tiff_close(struct fbp_tiff **t)
{
    if (!*t)
        return;
    if ((*t)->tif)
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

static fbp_status go_to(struct fbp_tiff *t, uint64_t at)
{
    if (t->at == at)
        return FBP_OK;
    t->at = 0;
    t->has_band = false;
    t->error[0] = '\0';
    if (!TIFFSetSubDirectory(t->tif, at))
        return fbp_tiff_fail(t, "a page cannot be read");
    FBP_TRY(fbp_tiff_describe(t, 0, &t->page));
    t->at = at;
    return FBP_OK;
}

static fbp_status decode_strip(struct fbp_tiff *t, uint32_t band, void *out)
{
    const tmsize_t bytes =
        (tmsize_t)(rows_of(&t->page, band) * t->page.w * fbp_type_size(t->page.type));

    t->error[0] = '\0';
    if (TIFFReadEncodedStrip(t->tif, band, out, bytes) != bytes)
        return fbp_tiff_fail(t, "a strip cannot be decoded");
    return FBP_OK;
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
        if (TIFFReadEncodedTile(t->tif, band * across + i, t->tile, bytes) != bytes)
            return fbp_tiff_fail(t, "a tile cannot be decoded");
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
