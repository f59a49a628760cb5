/* Handles of libtiff that share one file descriptor, for several reading threads; each caches the
 * strip or row of tiles that it decoded last.
 *
 * libtiff does not read the directories of the file, but copies (masks) that contain only the
 * entries that describe the samples and the resolution of a page. Reason: libtiff 4.5.0 keeps other
 * tags in a growing list, miscounts the list if memory is missing, and crashes when it frees the
 * list (_TIFFVSetField). Therefore the tag ImageDescription of the first page is read without
 * libtiff (fbp_tiff_text()).
 * Used by: tiff.c. */
#include "array/file/bytes.h"
#include "array/format/tiff.h"

#include <stdio.h>
#include <string.h>

/* Bytes by which one allocation of libtiff (4.5 and later) may exceed the size of the file; a file
 * that needs more is refused. */
enum { SPARE_BYTES = 64 << 20 };
enum { BIG = 43, ASCII = 2, MOST_ENTRIES = 4096, MOST_TEXT = 1 << 24, AT_ONCE = 64 };

/* ---- the masked view */

static const uint16_t kept[] = {
    TIFFTAG_SUBFILETYPE,    TIFFTAG_IMAGEWIDTH,      TIFFTAG_IMAGELENGTH,  TIFFTAG_BITSPERSAMPLE,
    TIFFTAG_COMPRESSION,    TIFFTAG_PHOTOMETRIC,     TIFFTAG_FILLORDER,    TIFFTAG_STRIPOFFSETS,
    TIFFTAG_ORIENTATION,    TIFFTAG_SAMPLESPERPIXEL, TIFFTAG_ROWSPERSTRIP, TIFFTAG_STRIPBYTECOUNTS,
    TIFFTAG_XRESOLUTION,    TIFFTAG_YRESOLUTION,     TIFFTAG_PLANARCONFIG, TIFFTAG_PREDICTOR,
    TIFFTAG_COLORMAP,       TIFFTAG_TILEWIDTH,       TIFFTAG_TILELENGTH,   TIFFTAG_TILEOFFSETS,
    TIFFTAG_TILEBYTECOUNTS, TIFFTAG_SAMPLEFORMAT,
};
enum { N_KEPT = sizeof kept / sizeof *kept };
_Static_assert(8 + 20 * (2 * N_KEPT) + 8 <= FBP_TIFF_MASK_BYTES, "a tag may be there twice");

static uint64_t number(const struct fbp_tiff *t, const unsigned char *p, size_t size)
{
    uint64_t value = 0;

    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)p[i] << 8 * (t->big_endian ? size - 1 - i : i);
    return value;
}

/* Read n bytes of the TIFF file; FBP_ERR_IO if it has become shorter since it was opened. */
static fbp_status read_file(const struct fbp_tiff *t, uint64_t at, void *out, size_t n, size_t *got)
{
    FBP_TRY(fbp_read_most(t->fd, t->path, at, out, n, got));
    if (*got == n)
        return FBP_OK;
    return fbp_fail(FBP_ERR_IO,
                    "%s: the file ends at byte %llu, but was longer (%llu bytes) before; it "
                    "changes while it is read, so wait until it is complete",
                    t->path, (unsigned long long)at + *got, (unsigned long long)t->size);
}

/* Read n bytes of the TIFF file. *there: false, and nothing is read, if they lie beyond its end. */
static fbp_status read_bytes(const struct fbp_tiff *t, uint64_t at, void *out, size_t n,
                             bool *there)
{
    size_t got = 0;

    *there = at <= t->size && n <= t->size - at;
    return *there ? read_file(t, at, out, n, &got) : FBP_OK;
}

/* Create the mask of the directory at byte `at`: the bytes that libtiff reads in place of those in
 * the file; also find the description of the first page. No mask is created for a directory that is
 * cut off or has too many entries: libtiff then reads the file, and reports an error if there is
 * one. */
static fbp_status mask(struct fbp_tiff *t, uint64_t at)
{
    const size_t wide = t->big ? 8 : 2, next = t->big ? 8 : 4, size = t->big ? 20 : 12;
    const size_t offset = t->big ? 8 : 4; /* bytes of a count or an offset */
    unsigned char *end = t->mask + wide, *last = t->mask + sizeof t->mask - next;
    unsigned char entries[AT_ONCE * 20];
    bool there = false;

    t->mask_at = at;
    t->mask_bytes = 0;
    t->next_at = 0;
    FBP_TRY(read_bytes(t, at, t->mask, wide, &there));
    const uint64_t n = there ? number(t, t->mask, wide) : 0;
    if (!there || (t->big && n > MOST_ENTRIES))
        return FBP_OK;
    for (uint64_t i = 0; i < n && there; i += AT_ONCE) {
        const size_t some = n - i < AT_ONCE ? (size_t)(n - i) : AT_ONCE;
        FBP_TRY(read_bytes(t, at + wide + i * size, entries, some * size, &there));
        for (size_t k = 0; k < some && there; k++) {
            const unsigned char *entry = entries + k * size;
            const uint64_t tag = number(t, entry, 2);
            bool is_kept = false;
            if (at == t->first && tag == TIFFTAG_IMAGEDESCRIPTION &&
                number(t, entry + 2, 2) == ASCII) { /* a short text is in the entry itself */
                t->text_bytes = number(t, entry + 4, offset);
                t->text_at = t->text_bytes <= offset ? at + wide + (i + k) * size + 4 + offset
                                                     : number(t, entry + 4 + offset, offset);
            }
            for (size_t m = 0; m < N_KEPT; m++)
                is_kept |= kept[m] == tag;
            if (!is_kept)
                continue;
            /* false: the mask is full, because tags are repeated */
            there = (size_t)(last - end) >= size;
            if (there) {
                memcpy(end, entry, size);
                end += size;
            }
        }
    }
    if (there && end == t->mask + wide) /* libtiff would report missing memory instead */
        return FBP_INVALID("%s: TIFF: the directory at byte %llu describes no image; the file is "
                           "damaged, copy it again",
                           t->path, (unsigned long long)t->mask_at);
    if (there)
        FBP_TRY(read_bytes(t, at + wide + n * size, end, next, &there));
    if (!there)
        return FBP_OK;
    t->next_at = number(t, end, next);
    const uint64_t n_kept = (uint64_t)(end - t->mask - (ptrdiff_t)wide) / size;
    for (size_t i = 0; i < wide; i++)
        t->mask[i] = (unsigned char)(n_kept >> 8 * (t->big_endian ? wide - 1 - i : i));
    t->mask_bytes = (size_t)(end - t->mask) + next;
    return FBP_OK;
}

fbp_status fbp_tiff_text(const struct fbp_tiff *t, char **out)
{
    bool there = false;

    *out = NULL;
    if (t->text_bytes == 0 || t->text_bytes > MOST_TEXT)
        return FBP_OK;
    FBP_TRY(fbp_calloc((void **)out, t->text_bytes + 1, 1, "a description"));
    fbp_status st = read_bytes(t, t->text_at, *out, t->text_bytes, &there);
    if (st != FBP_OK || !there) {
        free(*out);
        *out = NULL;
    }
    return st;
}

/* ---- callbacks of libtiff */

static tmsize_t read_some(thandle_t handle, void *buf, tmsize_t n)
{
    struct fbp_tiff *t = handle;
    size_t got = 0;
    const uint64_t left = t->pos < t->size ? t->size - t->pos : 0;
    const size_t take = (uint64_t)n < left ? (size_t)n : (size_t)left;
    const fbp_status st = read_file(t, t->pos, buf, take, &got);

    if (st != FBP_OK && t->failed == FBP_OK)
        t->failed = st;
    const uint64_t end = t->mask_at + t->mask_bytes;
    const uint64_t from = t->pos > t->mask_at ? t->pos : t->mask_at;
    const uint64_t to = t->pos + got < end ? t->pos + got : end;
    if (t->mask_bytes && from < to)
        memcpy((char *)buf + (from - t->pos), t->mask + (from - t->mask_at), (size_t)(to - from));
    t->pos += got;
    return (tmsize_t)got;
}

static tmsize_t write_none(thandle_t handle, void *buf, tmsize_t n)
{
    (void)handle, (void)buf, (void)n;
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

/* libtiff 4.5 and later have error handlers per handle. In older versions, handlers belong to the
 * process, and fbp only silences them. */
#if TIFFLIB_VERSION >= 20221213

/* Leave libtiff by longjmp() if one of its errors or warnings (`text`) reports missing memory, or
 * an allocation above the limit that open_client() sets: libtiff would continue without a tag, or
 * with missing tables (4.5.0). The handle is then not used again. */
static void look_for_memory(struct fbp_tiff *t, const char *text)
{
    static const char *const signs[] = {"memory", "alloc", "o space for", "Insertion in",
                                        "Merging"};
    bool found = false;

    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        found |= strstr(text, signs[i]) != NULL;
    if (!found)
        return;
    if (t->failed == FBP_OK && strstr(text, "beyond the"))
        t->failed = FBP_INVALID("%s: TIFF: %s; the file may be damaged, so copy it again, or save "
                                "it with larger strips or tiles",
                                t->path, text);
    else if (t->failed == FBP_OK)
        t->failed = fbp_fail(FBP_ERR_NOMEM, "%s: TIFF: not enough memory: %s; close other programs",
                             t->path, text);
    if (t->out)
        longjmp(*t->out, 1);
}

static int on_error(TIFF *tif, void *user, const char *module, const char *fmt, va_list ap)
{
    struct fbp_tiff *t = user;
    char text[sizeof t->error];

    (void)tif, (void)module;
    vsnprintf(text, sizeof text, fmt, ap);
    look_for_memory(t, text);
    if (!t->error[0])
        memcpy(t->error, text, sizeof text);
    return 1;
}

static int on_warning(TIFF *tif, void *user, const char *module, const char *fmt, va_list ap)
{
    char text[200];

    (void)tif, (void)module;
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
    TIFFOpenOptionsSetErrorHandlerExtR(o, on_error, t);
    TIFFOpenOptionsSetWarningHandlerExtR(o, on_warning, t);
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

/* ---- calls of libtiff, which an error handler may end by longjmp() */

struct call {
    enum { OPEN, SET_DIRECTORY, READ_DIRECTORY, READ_STRIP, READ_TILE } what;
    uint64_t at;
    uint32_t index;
    void *to;
    tmsize_t bytes;
};

/* Call the function of libtiff that c->what selects; what: reason in the error message. If libtiff
 * lacked memory or bytes of the file, the call fails even if libtiff reports success. No local
 * variable that is used after longjmp() changes after setjmp(). */
static fbp_status call(struct fbp_tiff *t, const struct call *c, const char *what)
{
    jmp_buf out;
    bool done;

    t->error[0] = '\0';
    if (setjmp(out) != 0) {
        t->out = NULL;
        t->abandoned = true;
        return t->failed;
    }
    t->out = &out;
    switch (c->what) {
    case OPEN:
        t->tif = open_client(t);
        done = t->tif != NULL;
        break;
    case SET_DIRECTORY:
        done = TIFFSetSubDirectory(t->tif, c->at) != 0;
        break;
    case READ_DIRECTORY:
        done = TIFFReadDirectory(t->tif) != 0;
        break;
    case READ_STRIP:
        done = TIFFReadEncodedStrip(t->tif, c->index, c->to, c->bytes) == c->bytes;
        break;
    default:
        done = TIFFReadEncodedTile(t->tif, c->index, c->to, c->bytes) == c->bytes;
    }
    t->out = NULL;
    if (t->failed != FBP_OK)
        return t->failed;
    if (done)
        return FBP_OK;
    return FBP_INVALID("%s: TIFF: %s%s%s; the file is damaged or truncated%s; copy it again",
                       t->path, what, t->error[0] ? ": " : "", t->error,
                       t->error[0] ? "" : ", or there was not enough memory");
}

fbp_status fbp_tiff_open(struct fbp_tiff **out, int fd, const char *path, uint64_t size)
{
    unsigned char head[16] = {0};
    struct fbp_tiff *t = NULL;
    bool there = false;
    fbp_status st;

    *out = NULL;
    FBP_TRY(fbp_calloc((void **)&t, 1, sizeof *t, "a TIFF file"));
    t->fd = fd;
    t->path = path;
    t->size = size;
    FBP_TRY_GOTO(read_bytes(t, 0, head, 8, &there));
    t->big_endian = head[0] == 'M';
    t->big = there && number(t, head + 2, 2) == BIG;
    if (t->big)
        FBP_TRY_GOTO(read_bytes(t, 8, head + 8, 8, &there));
    if (there) {
        t->first = t->big ? number(t, head + 8, 8) : number(t, head + 4, 4);
        FBP_TRY_GOTO(mask(t, t->first));
    }
    FBP_TRY_GOTO(call(t, &(struct call){.what = OPEN}, "cannot be opened"));
    *out = t;
    return FBP_OK;
fail:
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

fbp_status fbp_tiff_go_to(struct fbp_tiff *t, uint64_t at, const char *what)
{
    FBP_TRY(t->failed);
    FBP_TRY(mask(t, at));
    return call(t, &(struct call){.what = SET_DIRECTORY, .at = at}, what);
}

fbp_status fbp_tiff_go_on(struct fbp_tiff *t)
{
    FBP_TRY(mask(t, t->next_at));
    return call(t, &(struct call){.what = READ_DIRECTORY},
                "the directory of a page cannot be read");
}

/* ---- bands of rows */

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

/* Decode a band of the current page to out: a strip, or a row of tiles, the last of which may
 * extend beyond the page. */
static fbp_status decode(struct fbp_tiff *t, uint32_t band, char *out)
{
    const struct fbp_tiff_page *p = &t->page;
    const size_t size = fbp_type_size(p->type), rows = rows_of(p, band);

    if (!p->tile_w) {
        const tmsize_t bytes = (tmsize_t)(rows * p->w * size);
        const struct call c = {.what = READ_STRIP, .index = band, .to = out, .bytes = bytes};
        return call(t, &c, "a strip cannot be decoded");
    }
    const tmsize_t bytes = TIFFTileSize(t->tif);
    const uint32_t across = (p->w - 1) / p->tile_w + 1;
    FBP_TRY(grow(&t->tile, &t->tile_bytes, (size_t)bytes, "a tile"));
    for (uint32_t i = 0; i < across; i++) {
        const size_t x = (size_t)i * p->tile_w, left = p->w - x;
        const size_t n = left < p->tile_w ? left : p->tile_w;
        const struct call c = {
            .what = READ_TILE, .index = band * across + i, .to = t->tile, .bytes = bytes};
        FBP_TRY(call(t, &c, "a tile cannot be decoded"));
        for (size_t r = 0; r < rows; r++)
            memcpy(out + (r * p->w + x) * size, (char *)t->tile + r * p->tile_w * size, n * size);
    }
    return FBP_OK;
}

fbp_status fbp_tiff_read(struct fbp_tiff *t, uint64_t at, size_t row0, size_t n, void *out)
{
    char *to = out;

    if (t->at != at) {
        t->at = 0;
        t->has_band = false;
        FBP_TRY(fbp_tiff_go_to(t, at, "a page cannot be read"));
        FBP_TRY(fbp_tiff_describe(t, 0, &t->page));
        t->at = at;
    }
    const size_t row = t->page.w * fbp_type_size(t->page.type);
    for (size_t r = row0; r < row0 + n;) {
        const uint32_t band = (uint32_t)(r / t->page.band_rows);
        const size_t first = (size_t)band * t->page.band_rows, rows = rows_of(&t->page, band);
        const size_t end = first + rows < row0 + n ? first + rows : row0 + n;
        if (r == first && end == first + rows) {
            FBP_TRY(decode(t, band, to));
        } else {
            /* Only some rows of a band (strip or row of tiles) are requested: the whole band is
             * decoded and kept, because its next rows are often requested next. */
            if (!t->has_band || t->band != band) {
                t->has_band = false;
                FBP_TRY(grow(&t->samples, &t->samples_bytes, rows * row, "rows of samples"));
                FBP_TRY(decode(t, band, t->samples));
                t->band = band;
                t->has_band = true;
            }
            memcpy(to, (char *)t->samples + (r - first) * row, (end - r) * row);
        }
        to += (end - r) * row;
        r = end;
    }
    return FBP_OK;
}
