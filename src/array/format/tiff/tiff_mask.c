/* What libtiff sees of a directory.  Of tags that it keeps in a list that grows it loses count
 * where memory ends, and stops in freeing the list (4.5.0, _TIFFVSetField); it has no need of them.
 * So its view of the file holds those entries only that say what a page's samples are.  The
 * description of the first page is read here. */
#include "array/file/bytes.h"
#include "array/format/tiff/tiff.h"

#include "base/base.h"

#include <string.h>

enum { CLASSIC = 42, BIG = 43, ASCII = 2, MOST_ENTRIES = 4096, MOST_TEXT = 1 << 24, AT_ONCE = 64 };

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

static void put_number(const struct fbp_tiff *t, uint64_t value, unsigned char *p, size_t size)
{
    for (size_t i = 0; i < size; i++)
        p[i] = (unsigned char)(value >> 8 * (t->big_endian ? size - 1 - i : i));
}

fbp_status fbp_tiff_take(const struct fbp_tiff *t, uint64_t at, void *out, size_t n, size_t *got)
{
    FBP_TRY(fbp_read_most(t->fd, t->path, at, out, n, got));
    if (*got == n)
        return FBP_OK;
    return fbp_fail(FBP_ERR_IO,
                    "%s: the file ends at byte %llu now, it had %llu: it changes while "
                    "it is read: wait until it is written",
                    t->path, (unsigned long long)at + *got, (unsigned long long)t->size);
}

/* n bytes; false: they are not in the file, which libtiff will say. */
static fbp_status read_bytes(const struct fbp_tiff *t, uint64_t at, void *out, size_t n,
                             bool *there)
{
    size_t got = 0;

    *there = at <= t->size && n <= t->size - at;
    return *there ? fbp_tiff_take(t, at, out, n, &got) : FBP_OK;
}

fbp_status fbp_tiff_mask_first(struct fbp_tiff *t)
{
    unsigned char head[16] = {0};
    bool there = false;

    FBP_TRY(read_bytes(t, 0, head, 8, &there));
    t->big_endian = head[0] == 'M';
    t->big = there && number(t, head + 2, 2) == BIG;
    if (t->big)
        FBP_TRY(read_bytes(t, 8, head + 8, 8, &there));
    t->mask_bytes = 0;
    t->text_bytes = 0;
    t->first = !there ? 0 : t->big ? number(t, head + 8, 8) : number(t, head + 4, 4);
    return there ? fbp_tiff_mask(t, t->first) : FBP_OK;
}

static bool is_kept(uint64_t tag)
{
    for (size_t i = 0; i < N_KEPT; i++)
        if (kept[i] == tag)
            return true;
    return false;
}

/* Where the text of an entry lies: in it, if it is short enough. */
static void note_text(struct fbp_tiff *t, const unsigned char *entry, uint64_t at)
{
    const size_t wide = t->big ? 8 : 4;
    const uint64_t n = number(t, entry + 4, wide);

    if (number(t, entry, 2) != TIFFTAG_IMAGEDESCRIPTION || number(t, entry + 2, 2) != ASCII)
        return;
    t->text_bytes = n;
    t->text_at = n <= wide ? at + 4 + wide : number(t, entry + 4 + wide, wide);
}

/* Those of n entries that are kept, to *end, which moves behind them; false: too many, as one is
 * there again and again. */
static bool keep(struct fbp_tiff *t, const unsigned char *entries, uint64_t at, size_t n,
                 unsigned char **end, const unsigned char *last)
{
    const size_t size = t->big ? 20 : 12;

    for (size_t i = 0; i < n; i++) {
        const unsigned char *entry = entries + i * size;
        if (t->mask_at == t->first)
            note_text(t, entry, at + i * size);
        if (!is_kept(number(t, entry, 2)))
            continue;
        if ((size_t)(last - *end) < size)
            return false;
        memcpy(*end, entry, size);
        *end += size;
    }
    return true;
}

/* The same of a whole directory of n. */
static fbp_status keep_all(struct fbp_tiff *t, uint64_t at, uint64_t n, unsigned char **end,
                           const unsigned char *last, bool *there)
{
    const size_t size = t->big ? 20 : 12;
    unsigned char entries[AT_ONCE * 20];

    for (uint64_t i = 0; i < n && *there; i += AT_ONCE) {
        const size_t some = n - i < AT_ONCE ? (size_t)(n - i) : AT_ONCE;
        FBP_TRY(read_bytes(t, at + i * size, entries, some * size, there));
        *there = *there && keep(t, entries, at + i * size, some, end, last);
    }
    return FBP_OK;
}

/* libtiff asks for no bytes then, and calls it a want of memory. */
static fbp_status fail_empty(const struct fbp_tiff *t)
{
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: TIFF: the directory at byte %llu says nothing about a picture: the file "
                    "is damaged: copy it again",
                    t->path, (unsigned long long)t->mask_at);
}

fbp_status fbp_tiff_mask(struct fbp_tiff *t, uint64_t at)
{
    const size_t wide = t->big ? 8 : 2, next = t->big ? 8 : 4, size = t->big ? 20 : 12;
    unsigned char *end = t->mask + wide;
    bool there = false;

    t->mask_at = at;
    t->mask_bytes = 0;
    t->next_at = 0;
    FBP_TRY(read_bytes(t, at, t->mask, wide, &there));
    const uint64_t n = there ? number(t, t->mask, wide) : 0;
    if (!there || (t->big && n > MOST_ENTRIES))
        return FBP_OK;
    FBP_TRY(keep_all(t, at + wide, n, &end, t->mask + sizeof t->mask - next, &there));
    if (there && end == t->mask + wide)
        return fail_empty(t);
    if (there)
        FBP_TRY(read_bytes(t, at + wide + n * size, end, next, &there));
    if (!there)
        return FBP_OK;
    t->next_at = number(t, end, next);
    put_number(t, (uint64_t)(end - t->mask - (ptrdiff_t)wide) / size, t->mask, wide);
    t->mask_bytes = (size_t)(end - t->mask) + next;
    return FBP_OK;
}

void fbp_tiff_put_mask(const struct fbp_tiff *t, uint64_t at, void *buf, size_t n)
{
    const uint64_t end = t->mask_at + t->mask_bytes;
    const uint64_t from = at > t->mask_at ? at : t->mask_at, to = at + n < end ? at + n : end;

    if (t->mask_bytes && from < to)
        memcpy((char *)buf + (from - at), t->mask + (from - t->mask_at), (size_t)(to - from));
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
