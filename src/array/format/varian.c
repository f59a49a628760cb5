/* Reader of Varian's projections, one image per file (table fbp_format_varian), and of their
 * headers for the import of scans (fbp_varian_probe()). All numbers are little-endian:
 *
 *     .hnc  512 bytes of header, then uint16 samples
 *     .hnd  1024 bytes with the same header, then table and differences
 *     .xim  8 bytes, int32 version, columns, rows, bits and bytes per sample, 1 (compressed); int32
 *           size and table, int32 size and differences, int32; int32 number and bins of a
 *           histogram; int32 number and properties: int32 length and name, int32 type, and int32
 *           (type 0), double (1), or int32 size and that many bytes (2, 4, 5)
 *
 * The first row and p[w] of compressed samples p are int32, w: number of columns. The others are
 * p[i] = p[i - 1] + p[i - w] - p[i - w - 1] + a difference of 1, 2 or 4 bytes. The table has two
 * bits per difference, lowest bits first: the base-2 logarithm of its size in bytes.
 * Reference: RTK, src/rtkHncImageIO.cxx, src/rtkHndImageIO.cxx, src/rtkXimImageIO.cxx.
 * Used by: array/formats.c, scan/format/. */
#include "array/format/varian.h"
#include "array/file/bytes.h"
#include "array/file/format.h"
#include "base/text.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "Varian's files are little-endian");

static const char extensions[] = ".hnd .hnc .xim";

/* Read n bytes of a file at *at, and move *at behind them. */
static fbp_status take(int fd, const char *path, uint64_t *at, void *out, size_t n)
{
    FBP_TRY(fbp_read_at(fd, path, *at, out, n));
    *at += n;
    return FBP_OK;
}

/* Read the properties of an .xim file, from their number at byte `at` on. */
static fbp_status read_properties(int fd, const char *path, uint64_t at, struct fbp_varian *out)
{
    const struct {
        const char *name;
        double *value, unit;
    } known[] = {{"KVSourceRtn", &out->angle_deg, 1},      {"KVNormChamber", &out->norm, 1},
                 {"KVDetectorLat", &out->shift_mm[0], 10}, {"KVDetectorLng", &out->shift_mm[1], 10},
                 {"PixelWidth", &out->pitch_mm[0], 10},    {"PixelHeight", &out->pitch_mm[1], 10}};
    char name[16];
    uint32_t count, length, type, size;
    int32_t whole;
    double x;

    FBP_TRY(take(fd, path, &at, &count, 4));
    for (; count > 0; count--, at += size) {
        FBP_TRY(take(fd, path, &at, &length, 4));
        memset(name, 0, sizeof name);
        FBP_TRY(fbp_read_at(fd, path, at, name, length < sizeof name ? length : 0));
        at += length;
        FBP_TRY(take(fd, path, &at, &type, 4));
        size = type == 0 ? 4 : 8;
        if (type > 1)
            FBP_TRY(take(fd, path, &at, &size, 4));
        for (size_t i = 0; type <= 1 && i < sizeof known / sizeof *known; i++) {
            if (strcmp(known[i].name, name) != 0)
                continue;
            FBP_TRY(fbp_read_at(fd, path, at, type == 0 ? (void *)&whole : &x, size));
            *known[i].value = (type == 0 ? whole : x) * known[i].unit;
        }
    }
    return FBP_OK;
}

static fbp_status read_xim(int fd, const char *path, struct fbp_varian *out)
{
    uint32_t h[9], word;
    uint64_t at = 0;

    FBP_TRY(take(fd, path, &at, h, sizeof h));
    out->n[0] = h[3];
    out->n[1] = h[4];
    if (h[7] != 1)
        return FBP_UNSUPPORTED("%s: XIM compression %u is not supported; export compressed images",
                               path, h[7]);
    out->table = at;
    out->table_bytes = h[8];
    at += out->table_bytes;
    FBP_TRY(take(fd, path, &at, &word, 4));
    out->data = at;
    out->data_bytes = word;
    at += out->data_bytes + 4;
    FBP_TRY(take(fd, path, &at, &word, 4));
    return read_properties(fd, path, at + 4 * (uint64_t)word, out);
}

static fbp_status read_hn(int fd, const char *path, uint64_t size, bool compressed,
                          struct fbp_varian *out)
{
    enum { SIDES = 120, PITCH = 352, ANGLE = 432, HEAD = 440, HNC_DATA = 512, HND_DATA = 1024 };
    unsigned char h[HEAD];
    uint32_t n[2];

    FBP_TRY(fbp_read_at(fd, path, 0, h, sizeof h));
    if (memcmp(h, "VARIAN", 6) != 0)
        return FBP_INVALID("%s: does not begin with VARIAN, so it is no projection of a Varian "
                           "imager; correct its name",
                           path);
    memcpy(n, h + SIDES, sizeof n);
    memcpy(out->pitch_mm, h + PITCH, sizeof out->pitch_mm);
    memcpy(&out->angle_deg, h + ANGLE, sizeof out->angle_deg);
    out->n[0] = n[0];
    out->n[1] = n[1];
    out->table = HND_DATA;
    out->table_bytes = compressed && n[1] > 0 ? (uint64_t)n[0] * (n[1] - 1) / 4 : 0;
    out->data = compressed ? HND_DATA + out->table_bytes : HNC_DATA;
    out->data_bytes = size > out->data ? size - out->data : 0;
    return FBP_OK;
}

static fbp_status read_info(int fd, const char *path, uint64_t size, struct fbp_varian *out)
{
    enum { MOST_SIDE = 65535 };
    const bool coded = !fbp_has_extension(path, ".hnc");

    *out = (struct fbp_varian){.angle_deg = NAN, .shift_mm = {NAN, NAN}};
    if (fbp_has_extension(path, ".xim"))
        FBP_TRY(read_xim(fd, path, out));
    else
        FBP_TRY(read_hn(fd, path, size, coded, out));
    const uint64_t w = out->n[0], n = w * out->n[1]; /* no overflow: both are below 2^32 */
    if (n == 0)
        return FBP_INVALID("%s: contains no image; move the file to another folder", path);
    if (w > MOST_SIDE || out->n[1] > MOST_SIDE || out->data > size ||
        out->data_bytes > size - out->data ||
        (coded ? n < w + 2 || n - w - 1 > 4 * out->table_bytes ||
                     4 * (w + 1) + n - w - 1 > out->data_bytes
               : 2 * n > out->data_bytes))
        return FBP_INVALID("%s: the file is too short for %zu x %zu samples; it is damaged or "
                           "truncated, copy it again",
                           path, out->n[0], out->n[1]);
    return FBP_OK;
}

fbp_status fbp_varian_probe(const char *path, struct fbp_varian *out)
{
    uint64_t size = 0;
    int fd = -1;

    FBP_TRY(fbp_open_file(path, &fd, &size));
    const fbp_status st = read_info(fd, path, size, out);
    close(fd);
    return st;
}

/* Decode the rows [0, row0 + n_rows) of a compressed image, and copy the last n_rows of them. */
static fbp_status read_rows(fbp_source *src, size_t slice, size_t row0, size_t n_rows, void *out)
{
    const struct fbp_varian *h = src->state;
    const size_t w = h->n[0], n = w * (row0 + n_rows), head = 4 * (w + 1);
    unsigned char *table = NULL, *data, *end;
    uint32_t *p = NULL;
    fbp_status st;

    (void)slice;
    FBP_TRY_GOTO(fbp_alloc((void **)&table, (size_t)(h->data + h->data_bytes - h->table),
                           "compressed samples"));
    FBP_TRY_GOTO(fbp_alloc((void **)&p, head + n * sizeof *p, "an image"));
    end = table + (h->data + h->data_bytes - h->table);
    data = table + (h->data - h->table);
    FBP_TRY_GOTO(fbp_read_at(src->fd, src->path, h->table, table, (size_t)(end - table)));
    memcpy(p, data, head);
    data += head;
    for (size_t i = w + 1, k = 0; i < n; i++, k++) {
        const int size = 1 << (table[k / 4] >> 2 * (k % 4) & 3);
        uint32_t x = 0;
        if (size > 4 || size > end - data)
            FBP_TRY_GOTO(FBP_INVALID("%s: the compressed samples end at pixel %zu; the file is "
                                     "damaged or truncated, copy it again",
                                     src->path, i));
        memcpy(&x, data, (size_t)size);
        data += size;
        x = size == 1 ? (uint32_t)(int8_t)x : size == 2 ? (uint32_t)(int16_t)x : x;
        p[i] = x + p[i - 1] + p[i - w] - p[i - w - 1];
    }
    memcpy(out, p + row0 * w, n_rows * w * sizeof *p);
fail:
    fbp_free(table);
    fbp_free(p);
    return st;
}

static fbp_status open_varian(fbp_source *src)
{
    struct fbp_varian *h = NULL;

    FBP_TRY(fbp_calloc((void **)&h, 1, sizeof *h, "a source"));
    src->state = h;
    src->close = fbp_source_free_state;
    FBP_TRY(read_info(src->fd, src->file, fbp_file_bytes(src->fd), h));
    memcpy(src->info.n, (const size_t[3]){h->n[0], h->n[1], 1}, sizeof src->info.n);
    src->info.type = h->table_bytes > 0 ? FBP_I32 : FBP_U16;
    src->offset = h->data;
    if (h->table_bytes > 0) {
        src->read = read_rows;
        src->in_order = true;
        src->reader_bytes =
            h->data + h->data_bytes - h->table + 4 * (uint64_t)(h->n[0] + 1) * (h->n[1] + 1);
    }
    return h->pitch_mm[0] > 0 && h->pitch_mm[1] > 0 ? fbp_source_take_pitch(src, h->pitch_mm)
                                                    : FBP_OK;
}

/* Files of another beginning, but with such a name, are refused by open_varian(). */
static bool detect(const char *path, const unsigned char *head, size_t n)
{
    enum { XIM_COMPRESSION = 28 };
    return n > XIM_COMPRESSION && fbp_has_extension(path, extensions) &&
           (memcmp(head, "VARIAN", 6) == 0 || head[XIM_COMPRESSION] == 1);
}

const struct fbp_format fbp_format_varian = {
    .name = "varian",
    .title = "Varian",
    .extensions = extensions,
    .detect = detect,
    .open = open_varian,
    .not_growing = "--follow cannot read a growing image; write one file per view",
};
