/* A page's tags: what can be read, what is refused and why.  TIFF 6.0; BigTIFF has the same tags.
 */
#include "array/file/inflate.h"
#include "array/format/tiff/tiff.h"

#include <stdio.h>

/* Lossless codecs, and how many bytes one byte can become at most. */
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
    return fbp_fail(FBP_ERR_UNSUPPORTED, "%s: TIFF page %zu %s: %s", t->path, k, what, remedy);
}

static uint16_t tag(const struct fbp_tiff *t, uint32_t name)
{
    uint16_t value = 0;

    TIFFGetFieldDefaulted(t->tif, name, &value);
    return value;
}

static fbp_status check_colour(const struct fbp_tiff *t, size_t k)
{
    static const char remedy[] = "save it with one sample a pixel, as greyscale";
    uint16_t photometric = PHOTOMETRIC_MINISBLACK;
    char what[60];

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
        snprintf(what, sizeof what, "has %u samples a pixel", tag(t, TIFFTAG_SAMPLESPERPIXEL));
        return refuse(t, k, what, remedy);
    }
    return FBP_OK;
}

static fbp_status take_type(const struct fbp_tiff *t, size_t k, enum fbp_type *out)
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
    const uint16_t bits = tag(t, TIFFTAG_BITSPERSAMPLE), format = tag(t, TIFFTAG_SAMPLEFORMAT);
    char what[80];

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].bits == bits &&
            (table[i].format == format ||
             (format == SAMPLEFORMAT_VOID && table[i].format == SAMPLEFORMAT_UINT))) {
            *out = table[i].type;
            return FBP_OK;
        }
    snprintf(what, sizeof what, "has samples of %u bits in format %u", bits, format);
    return refuse(t, k, what, "save it as 8, 16 or 32-bit integers, or 32 or 64-bit float");
}

static const struct codec *find_codec(uint16_t code)
{
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++)
        if (codecs[i].code == code)
            return &codecs[i];
    return NULL;
}

static fbp_status check_codec(const struct fbp_tiff *t, size_t k, const struct codec **out)
{
    const uint16_t code = tag(t, TIFFTAG_COMPRESSION);
    const TIFFCodec *known = TIFFFindCODEC(code);
    char what[100];

    *out = find_codec(code);
    if (*out && TIFFIsCODECConfigured(code))
        return FBP_OK;
    snprintf(what, sizeof what, "is compressed by %.40s (%u)", known ? known->name : "a codec",
             code);
    return refuse(t, k, what,
                  *out ? "this libtiff was built without it: tiffcp -c lzw IN OUT converts it"
                       : "which is not read: tiffcp -c lzw IN OUT converts it");
}

static fbp_status take_orientation(const struct fbp_tiff *t, size_t k, bool *top_down)
{
    const uint16_t orientation = tag(t, TIFFTAG_ORIENTATION);
    char what[80];

    *top_down = orientation != ORIENTATION_BOTLEFT;
    if (orientation == ORIENTATION_TOPLEFT || orientation == ORIENTATION_BOTLEFT)
        return FBP_OK;
    snprintf(what, sizeof what, "is mirrored or turned (Orientation %u)", orientation);
    return refuse(t, k, what, "save it with its columns from left to right (Orientation 1 or 4)");
}

/* Size of the page and of its bands; none of it larger than can be. */
static fbp_status take_size(const struct fbp_tiff *t, size_t k, struct fbp_tiff_page *p)
{
    uint32_t tile_h = 0, rows = 0;

    if (!TIFFGetField(t->tif, TIFFTAG_IMAGEWIDTH, &p->w) ||
        !TIFFGetField(t->tif, TIFFTAG_IMAGELENGTH, &p->h) || p->w == 0 || p->h == 0)
        return fbp_fail(FBP_ERR_INVALID, "%s: TIFF page %zu has no size: the file is damaged",
                        t->path, k);
    if (TIFFIsTiled(t->tif)) {
        TIFFGetField(t->tif, TIFFTAG_TILEWIDTH, &p->tile_w);
        TIFFGetField(t->tif, TIFFTAG_TILELENGTH, &tile_h);
        if (p->tile_w == 0 || tile_h == 0 || p->tile_w > (uint64_t)p->w + 65536 ||
            tile_h > (uint64_t)p->h + 65536)
            return fbp_fail(FBP_ERR_INVALID,
                            "%s: TIFF page %zu of %u x %u pixels has tiles of %u x %u: it is "
                            "damaged",
                            t->path, k, p->w, p->h, p->tile_w, tile_h);
        rows = tile_h;
    } else {
        TIFFGetFieldDefaulted(t->tif, TIFFTAG_ROWSPERSTRIP, &rows);
    }
    if (!p->tile_w && (rows == 0 || rows > p->h))
        rows = p->h;
    p->band_rows = rows;
    p->n_bands = (p->h - 1) / rows + 1; // NOLINT(clang-analyzer-core.DivideZero): checked above
    return FBP_OK;
}

/* Every strip or tile must lie in the file, and be able to hold what it stands for. */
static fbp_status check_pieces(const struct fbp_tiff *t, size_t k, const struct fbp_tiff_page *p,
                               const struct codec *codec)
{
    const uint32_t across = p->tile_w ? (p->w - 1) / p->tile_w + 1 : 1;
    const uint64_t n = (uint64_t)across * p->n_bands, size = fbp_type_size(p->type);
    const uint64_t has = p->tile_w ? TIFFNumberOfTiles(t->tif) : TIFFNumberOfStrips(t->tif);
    const uint64_t piece = (uint64_t)(p->tile_w ? p->tile_w : p->w) * p->band_rows * size;
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < n && has >= n; i++) {
        const uint64_t at = TIFFGetStrileOffset(t->tif, i),
                       take = TIFFGetStrileByteCount(t->tif, i);
        if (at == 0 || take == 0 || at > t->size || take > t->size - at) {
            bytes = 0;
            break;
        }
        bytes += take;
    }
    if (bytes == 0 || (uint64_t)p->w * p->h * size / codec->most > bytes ||
        piece / codec->most > bytes)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: TIFF page %zu of %u x %u %s is not all in the file's %llu bytes: it "
                        "is truncated or damaged, copy it again",
                        t->path, k, p->w, p->h, fbp_type_name(p->type),
                        (unsigned long long)t->size);
    return FBP_OK;
}

/* One run of samples in the file?  Byte counts are not asked: those of files beyond 4 GiB lie. */
static bool is_plain(const struct fbp_tiff *t, const struct fbp_tiff_page *p,
                     const struct codec *codec)
{
    const uint64_t band = (uint64_t)p->w * p->band_rows * fbp_type_size(p->type);
    const uint64_t all = (uint64_t)p->w * p->h * fbp_type_size(p->type);

    if (codec->code != COMPRESSION_NONE || p->tile_w ||
        tag(t, TIFFTAG_FILLORDER) != FILLORDER_MSB2LSB || /* libtiff turns the bits of each byte */
        TIFFNumberOfStrips(t->tif) < p->n_bands)
        return false;
    const uint64_t first = TIFFGetStrileOffset(t->tif, 0);
    for (uint32_t i = 1; i < p->n_bands; i++)
        if (TIFFGetStrileOffset(t->tif, i) != first + i * band)
            return false;
    return first > 0 && first < t->size && all <= t->size - first;
}

fbp_status fbp_tiff_describe(const struct fbp_tiff *t, size_t k, struct fbp_tiff_page *out)
{
    const struct codec *codec = NULL;
    uint64_t samples;

    *out = (struct fbp_tiff_page){0};
    FBP_TRY(check_colour(t, k));
    FBP_TRY(take_type(t, k, &out->type));
    FBP_TRY(check_codec(t, k, &codec));
    FBP_TRY(take_orientation(t, k, &out->top_down));
    FBP_TRY(take_size(t, k, out));
    if (__builtin_mul_overflow((uint64_t)out->w * fbp_type_size(out->type), out->h, &samples) ||
        samples > INT64_MAX / 16)
        return fbp_fail(FBP_ERR_INVALID, "%s: TIFF page %zu: %u x %u pixels cannot be: damaged",
                        t->path, k, out->w, out->h);
    out->plain = is_plain(t, out, codec);
    out->at = out->plain ? TIFFGetStrileOffset(t->tif, 0) : TIFFCurrentDirOffset(t->tif);
    if (!out->plain)
        FBP_TRY(check_pieces(t, k, out, codec));
    return t->failed; /* some of it may have been read but now */
}
