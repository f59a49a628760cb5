/* Reader of TIFF and BigTIFF files: fbp_tiff_source() checks the tags of all pages, one page per
 * slice; a large stack of ImageJ or tifffile has one page for all slices. Pages of contiguous,
 * uncompressed samples are read directly, all others through libtiff (tiff_handle.c).
 * Used by: optional.c, tiff_handle.c. */
#include "array/format/tiff.h"
#include "array/file/bytes.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* ---- tags of a page: check that fbp supports them, with error messages */

/* Supported codecs of TIFF, all of them lossless; most: upper limit of the decoded bytes per stored
 * byte. */
static const struct codec {
    uint16_t code;
    uint32_t most;
} codecs[] = {
    {COMPRESSION_NONE, 1},
    {COMPRESSION_LZW, 4096},
    {COMPRESSION_PACKBITS, 64},
    {COMPRESSION_ADOBE_DEFLATE, FBP_DEFLATE_AT_MOST},
    {COMPRESSION_DEFLATE, FBP_DEFLATE_AT_MOST},
    {COMPRESSION_ZSTD, 65536},
    {COMPRESSION_LZMA, 65536},
};

static fbp_status refuse(const struct fbp_tiff *t, size_t k, const char *what, const char *remedy)
{
    return FBP_UNSUPPORTED("%s: TIFF page %zu %s; %s", t->path, k, what, remedy);
}

static uint16_t tag(const struct fbp_tiff *t, uint32_t name)
{
    uint16_t value = 0;

    TIFFGetFieldDefaulted(t->tif, name, &value);
    return value;
}

/* Check the tags of page k that state colour, sample type, codec and orientation; set the sample
 * type and row order of *p, and *codec. */
static fbp_status take_samples(const struct fbp_tiff *t, size_t k, struct fbp_tiff_page *p,
                               const struct codec **codec)
{
    static const struct {
        uint16_t bits, format;
        enum fbp_type type;
    } table[] = {
        {8, SAMPLEFORMAT_UINT, FBP_U8},     {8, SAMPLEFORMAT_INT, FBP_I8},
        {16, SAMPLEFORMAT_UINT, FBP_U16},   {16, SAMPLEFORMAT_INT, FBP_I16},
        {32, SAMPLEFORMAT_UINT, FBP_U32},   {32, SAMPLEFORMAT_INT, FBP_I32},
        {32, SAMPLEFORMAT_IEEEFP, FBP_F32}, {64, SAMPLEFORMAT_IEEEFP, FBP_F64},
    };
    static const char remedy[] = "save it as greyscale, with one sample per pixel";
    const uint16_t bits = tag(t, TIFFTAG_BITSPERSAMPLE), format = tag(t, TIFFTAG_SAMPLEFORMAT);
    const uint16_t code = tag(t, TIFFTAG_COMPRESSION), orientation = tag(t, TIFFTAG_ORIENTATION);
    uint16_t photometric = PHOTOMETRIC_MINISBLACK;
    char what[100];

    TIFFGetField(t->tif, TIFFTAG_PHOTOMETRIC, &photometric);
    if (photometric == PHOTOMETRIC_PALETTE)
        return refuse(t, k, "has a palette of colours", remedy);
    if (photometric == PHOTOMETRIC_RGB)
        return refuse(t, k, "is in colour (RGB)", remedy);
    if (photometric != PHOTOMETRIC_MINISBLACK && photometric != PHOTOMETRIC_MINISWHITE) {
        snprintf(what, sizeof what, "has photometric interpretation %u", photometric);
        return refuse(t, k, what, remedy);
    }
    if (tag(t, TIFFTAG_SAMPLESPERPIXEL) != 1) {
        snprintf(what, sizeof what, "has %u samples per pixel", tag(t, TIFFTAG_SAMPLESPERPIXEL));
        return refuse(t, k, what, remedy);
    }

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].bits == bits &&
            (table[i].format == format ||
             (format == SAMPLEFORMAT_VOID && table[i].format == SAMPLEFORMAT_UINT)))
            p->type = table[i].type;
    if (p->type == FBP_TYPE_NONE) {
        snprintf(what, sizeof what, "has samples of %u bits in format %u", bits, format);
        return refuse(t, k, what, "save it as 8, 16 or 32-bit integers, or 32 or 64-bit float");
    }

    *codec = NULL;
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++)
        if (codecs[i].code == code)
            *codec = &codecs[i];
    if (!*codec || !TIFFIsCODECConfigured(code)) {
        const TIFFCodec *known = TIFFFindCODEC(code);
        snprintf(what, sizeof what, "is compressed by %.40s (%u)", known ? known->name : "a codec",
                 code);
        return refuse(t, k, what,
                      *codec ? "this libtiff was built without this compression; convert the file "
                               "by tiffcp -c lzw IN OUT on a machine whose libtiff has it"
                             : "this compression is not supported; convert the file, for example "
                               "by tiffcp -c lzw IN OUT");
    }

    p->top_down = orientation != ORIENTATION_BOTLEFT;
    if (orientation != ORIENTATION_TOPLEFT && orientation != ORIENTATION_BOTLEFT) {
        snprintf(what, sizeof what, "is mirrored or turned (Orientation %u)", orientation);
        return refuse(t, k, what,
                      "save it with its columns from left to right (Orientation 1 or 4)");
    }
    return FBP_OK;
}

fbp_status fbp_tiff_describe(const struct fbp_tiff *t, size_t k, struct fbp_tiff_page *p)
{
    const struct codec *codec = NULL;
    uint32_t tile_h = 0, rows = 0;
    uint64_t stored = 0, all;

    *p = (struct fbp_tiff_page){0};
    FBP_TRY(take_samples(t, k, p, &codec));

    /* The size of the page and of its bands (strips, or rows of tiles). */
    if (!TIFFGetField(t->tif, TIFFTAG_IMAGEWIDTH, &p->w) ||
        !TIFFGetField(t->tif, TIFFTAG_IMAGELENGTH, &p->h) || p->w == 0 || p->h == 0)
        return FBP_INVALID("%s: TIFF page %zu has no size; the file is damaged, copy it again",
                           t->path, k);
    if (TIFFIsTiled(t->tif)) {
        TIFFGetField(t->tif, TIFFTAG_TILEWIDTH, &p->tile_w);
        TIFFGetField(t->tif, TIFFTAG_TILELENGTH, &tile_h);
        if (p->tile_w == 0 || tile_h == 0 || p->tile_w > (uint64_t)p->w + 65536 ||
            tile_h > (uint64_t)p->h + 65536)
            return FBP_INVALID("%s: TIFF page %zu of %u x %u pixels has tiles of %u x %u; the file "
                               "is damaged, copy it again",
                               t->path, k, p->w, p->h, p->tile_w, tile_h);
        rows = tile_h;
    } else {
        TIFFGetFieldDefaulted(t->tif, TIFFTAG_ROWSPERSTRIP, &rows);
    }
    if (!p->tile_w && (rows == 0 || rows > p->h))
        rows = p->h;
    p->band_rows = rows;
    p->n_bands = (p->h - 1) / rows + 1; // NOLINT(clang-analyzer-core.DivideZero): checked above
    const uint64_t size = fbp_type_size(p->type), row = (uint64_t)p->w * size;
    if (__builtin_mul_overflow(row, p->h, &all) || all > INT64_MAX / 16)
        return FBP_INVALID("%s: TIFF page %zu: a size of %u x %u pixels is impossible; the file is "
                           "damaged, copy it again",
                           t->path, k, p->w, p->h);

    /* Whether the page can be read without libtiff: its samples are uncompressed, in strips that
     * follow each other without gaps. Byte counts of strips are ignored, because they can be wrong
     * in files above 4 GiB. If FillOrder is LSB2MSB, libtiff must reverse bits. */
    p->plain = codec->code == COMPRESSION_NONE && !p->tile_w &&
               tag(t, TIFFTAG_FILLORDER) == FILLORDER_MSB2LSB &&
               TIFFNumberOfStrips(t->tif) >= p->n_bands;
    const uint64_t first = p->plain ? TIFFGetStrileOffset(t->tif, 0) : 0;
    for (uint32_t i = 1; i < p->n_bands && p->plain; i++)
        p->plain = TIFFGetStrileOffset(t->tif, i) == first + i * row * p->band_rows;
    p->plain = p->plain && first > 0 && first < t->size && all <= t->size - first;
    p->at = p->plain ? first : TIFFCurrentDirOffset(t->tif);
    if (p->plain)
        return t->failed; /* not FBP_OK if libtiff could not read the file, or lacked memory */

    /* Every strip or tile must lie inside the file, and their total size must be sufficient for the
     * page, given the greatest expansion by the codec. */
    const uint32_t across = p->tile_w ? (p->w - 1) / p->tile_w + 1 : 1;
    const uint64_t n = (uint64_t)across * p->n_bands;
    const uint64_t has = p->tile_w ? TIFFNumberOfTiles(t->tif) : TIFFNumberOfStrips(t->tif);
    const uint64_t piece = (uint64_t)(p->tile_w ? p->tile_w : p->w) * p->band_rows * size;
    for (uint32_t i = 0; i < n && has >= n; i++) {
        const uint64_t at = TIFFGetStrileOffset(t->tif, i),
                       take = TIFFGetStrileByteCount(t->tif, i);
        if (at == 0 || take == 0 || at > t->size || take > t->size - at) {
            stored = 0;
            break;
        }
        stored += take;
    }
    if (stored == 0 || all / codec->most > stored || piece / codec->most > stored)
        return FBP_INVALID("%s: TIFF page %zu of %u x %u %s does not fit into the file's %llu "
                           "bytes; the file is truncated or damaged, copy it again",
                           t->path, k, p->w, p->h, fbp_type_name(p->type),
                           (unsigned long long)t->size);
    return t->failed;
}

struct pages {
    struct place {
        uint64_t at; /* byte of the page's samples if `plain`, else of its directory */
        bool plain;
    } * places; /* [n], with room for `room` */
    size_t n, room;
    uint64_t size; /* of the file */
    pthread_mutex_t lock;
    struct fbp_tiff *idle; /* list of libtiff handles that no thread uses; protected by `lock` */
};

static fbp_status read_page(fbp_source *src, size_t slice, size_t row0, size_t n_rows, void *out)
{
    struct pages *s = src->state;
    const struct place *place = &s->places[slice];
    const size_t size = fbp_type_size(src->info.type), nx = src->info.n[0];
    struct fbp_tiff **p, *t;

    if (place->plain)
        return fbp_read_numbers(src->fd, src->path, place->at + row0 * nx * size, &src->info,
                                n_rows * nx, out);
    /* Take a libtiff handle for this thread: an unused one whose current page is the requested one,
     * else any unused one, else a new one. */
    pthread_mutex_lock(&s->lock);
    for (p = &s->idle; *p && (*p)->at != place->at;)
        p = &(*p)->next;
    if (!*p)
        p = &s->idle;
    t = *p;
    if (t)
        *p = t->next;
    pthread_mutex_unlock(&s->lock);
    if (!t)
        FBP_TRY(fbp_tiff_open(&t, src->fd, src->path, s->size));
    const fbp_status st = fbp_tiff_read(t, place->at, row0, n_rows, out);
    pthread_mutex_lock(&s->lock);
    t->next = s->idle;
    s->idle = t;
    pthread_mutex_unlock(&s->lock);
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

/* Append a page to the table of pages. All pages must have the size, type and row order of the
 * first one. */
static fbp_status add_page(fbp_source *src, const struct fbp_tiff *t, const struct fbp_tiff_page *p)
{
    const enum fbp_row_order order = p->top_down ? FBP_ROWS_TOP_DOWN : FBP_ROWS_BOTTOM_UP;
    const uint64_t size = fbp_type_size(p->type), rows = p->band_rows < p->h ? p->band_rows : p->h;
    struct fbp_array_info *i = &src->info;
    struct pages *s = src->state;

    if (s->n == 0) {
        i->n[0] = p->w;
        i->n[1] = p->h;
        i->type = p->type;
        i->big_endian = TIFFIsBigEndian(t->tif) != 0;
        i->row_order = order;
    }
    if (i->row_order != order)
        return FBP_INVALID("%s: TIFF page %zu has row 0 at the %s (Orientation %d), but the first "
                           "page at the %s; save all pages in the same way",
                           src->path, s->n, p->top_down ? "top" : "bottom", p->top_down ? 1 : 4,
                           p->top_down ? "bottom" : "top");
    if (i->n[0] != p->w || i->n[1] != p->h || i->type != p->type)
        return FBP_INVALID("%s: TIFF page %zu is %u x %u %s, but the first page is %zu x %zu %s; "
                           "save all pages with the same size and type",
                           src->path, s->n, p->w, p->h, fbp_type_name(p->type), i->n[0], i->n[1],
                           fbp_type_name(i->type));
    /* memory of a libtiff handle: a strip (or row of tiles) and a tile, each of them compressed and
     * decoded */
    if (!p->plain) {
        const uint64_t bytes = 2 * size * rows * p->w + 2 * size * p->band_rows * p->tile_w;
        src->unpacks = true;
        src->reader_bytes = bytes > src->reader_bytes ? bytes : src->reader_bytes;
    }
    FBP_TRY(fbp_reserve((void **)&s->places, sizeof *s->places, s->n + 1, &s->room,
                        "a table of pages"));
    s->places[s->n++] = (struct place){p->at, p->plain};
    return FBP_OK;
}

/* Number of slices that tifffile's description states for a stack with a single directory, such as
 * {"shape": [40, 64, 96], "truncated": true}; 1: the description states no such number. */
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

/* Read the ImageDescription of the first page: fbp's line, or the text of ImageJ or tifffile.
 * ImageJ writes stacks above 4 GiB, and tifffile stacks with "truncated", as one directory and the
 * samples of all slices; the description states their number. If the file is shorter than that,
 * either it is truncated (an error), or the page was extracted from a stack and kept its
 * description (one slice): programs that extract pages write the directory behind the samples. */
static fbp_status take_text(fbp_source *src, const struct fbp_tiff *t, const char *text)
{
    const struct pages *s = src->state;
    struct fbp_array_info *i = &src->info;
    const size_t n = strlen(text);
    float per_unit[2] = {0};
    size_t slices = 0;
    bool ours;

    TIFFGetField(t->tif, TIFFTAG_XRESOLUTION, &per_unit[0]);
    TIFFGetField(t->tif, TIFFTAG_YRESOLUTION, &per_unit[1]);
    const double per[2] = {(double)per_unit[0], (double)per_unit[1]};
    FBP_TRY(fbp_imagej_described(text, n, per, i, &slices));
    if (slices == 0)
        FBP_TRY(fbp_parse_description(text, n, false, i, &ours));
    if (s->n != 1 || !s->places[0].plain)
        return FBP_OK;

    const uint64_t samples = (uint64_t)i->n[0] * i->n[1], at = s->places[0].at;
    const uint64_t room = (s->size - at) / (samples * fbp_type_size(i->type));
    if (slices <= 1)
        slices = shaped_slices(text, n, samples);
    if (room >= slices)
        i->n[2] = slices;
    else if (TIFFCurrentDirOffset(t->tif) < at)
        return FBP_INVALID("%s: TIFF: its description states %zu slices, but the file has space "
                           "for %llu; the file is truncated, copy it again",
                           src->path, slices, (unsigned long long)room);
    return FBP_OK;
}

fbp_status fbp_tiff_source(struct fbp_source *src)
{
    struct pages *s = NULL;
    struct fbp_tiff *t = NULL;
    struct fbp_tiff_page page;
    bool more = true, one_run = true;
    char *text = NULL;
    fbp_status st;

    FBP_TRY(fbp_calloc((void **)&s, 1, sizeof *s, "a table of pages"));
    pthread_mutex_init(&s->lock, NULL);
    s->size = fbp_file_bytes(src->fd);
    src->state = s;
    src->close = close_pages;
    src->read = read_page;
    FBP_TRY(fbp_tiff_open(&t, src->fd, src->path, s->size));
    for (size_t k = 0; more; k++) {
        uint32_t kind = 0;
        TIFFGetField(t->tif, TIFFTAG_SUBFILETYPE, &kind);
        if (!(kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK))) { /* neither thumbnail nor mask */
            FBP_TRY_GOTO(fbp_tiff_describe(t, k, &page));
            FBP_TRY_GOTO(add_page(src, t, &page));
        }
        more = !TIFFLastDirectory(t->tif);
        if (more)
            FBP_TRY_GOTO(fbp_tiff_go_on(t));
    }
    if (s->n == 0)
        FBP_TRY_GOTO(FBP_INVALID(
            "%s: TIFF: contains only thumbnails or masks; name the file of the image", src->path));
    src->info.n[2] = s->n;
    FBP_TRY_GOTO(fbp_tiff_go_to(t, t->first, "its first page cannot be read"));
    FBP_TRY_GOTO(fbp_tiff_text(t, &text));
    if (text)
        FBP_TRY_GOTO(take_text(src, t, text));
    free(text);
    s->idle = t;

    /* If the samples of all pages are uncompressed and follow each other without gaps,
     * source_read.c reads them, and the table of pages is not needed. */
    const uint64_t bytes =
        (uint64_t)src->info.n[0] * src->info.n[1] * fbp_type_size(src->info.type);
    for (size_t k = 0; k < s->n; k++)
        one_run = one_run && s->places[k].plain && s->places[k].at == s->places[0].at + k * bytes;
    if (one_run) {
        src->offset = s->places[0].at;
        close_pages(src);
        src->state = NULL;
        src->close = NULL;
        src->read = NULL;
    }
    return FBP_OK;
fail:
    free(text);
    fbp_tiff_close(&t);
    return st;
}
