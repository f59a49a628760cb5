/* Reader of Zeiss Xradia's .txrm and .xrm files: their streams (fbp_txrm_open()), and their images
 * as an array (table fbp_format_txrm). FILE is the views, FILE:reference is the image without an
 * object. All numbers are little-endian, row 0 is at the bottom.
 *
 *     ImageInfo/ImageWidth, ImageHeight, NoOfImages, DataType   uint32; type 5: uint16, 10: float32
 *     ImageDataG/ImageK          view K from 1, G from 1, with 100 views per G
 *     ReferenceData/DataType, Image                             uint32, image
 *
 * Reference: Microsoft, [MS-CFB] (compound files); dxchange, dxchange/reader.py (streams).
 * Used by: array/formats.c, scan/format/. */
#include "array/format/txrm.h"
#include "array/file/bytes.h"
#include "array/file/format.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, ".txrm files are little-endian");

enum { HEAD = 512, ENTRY = 128, MINI_SHIFT = 6, MINI_CUTOFF = 4096 };

static fbp_status damaged(const struct fbp_txrm *t, const char *what)
{
    return FBP_INVALID("%s: %s of the compound file (OLE2) is wrong; the file is damaged or "
                       "truncated, copy it again",
                       t->path, what);
}

static uint32_t u32(const unsigned char *p, size_t byte)
{
    uint32_t x;
    memcpy(&x, p + byte, sizeof x);
    return x;
}

/* Read n bytes at byte `at` of the chain that begins at sector s; mini: of sectors of 64 bytes,
 * which lie in the chain of the first entry. */
static fbp_status read_chain(const struct fbp_txrm *t, bool mini, uint32_t s, uint64_t at,
                             void *out, size_t n)
{
    const uint32_t *next = mini ? t->mini : t->fat;
    const size_t n_next = mini ? t->n_mini : t->n_fat;
    const int shift = mini ? MINI_SHIFT : t->shift;

    for (uint64_t skip = at >> shift; skip > 0 && s < n_next; skip--)
        s = next[s];
    at &= ((uint64_t)1 << shift) - 1;
    while (n > 0) {
        const uint32_t first = s;
        uint64_t room = ((uint64_t)1 << shift) - at;
        if (s >= n_next)
            return damaged(t, "a chain of sectors");
        for (s = next[s]; room < n && s < n_next && s == first + ((room + at) >> shift);
             s = next[s])
            room += (uint64_t)1 << shift;
        const size_t take = n < room ? n : (size_t)room;
        const uint64_t from = ((uint64_t)first << shift) + at;
        FBP_TRY(mini ? read_chain(t, false, u32(t->folder, 116), from, out, take)
                     : fbp_read_at(t->fd, t->path, from + ((uint64_t)1 << shift), out, take));
        out = (char *)out + take;
        n -= take;
        at = 0;
    }
    return FBP_OK;
}

fbp_status fbp_txrm_open(struct fbp_txrm *t, int fd, const char *path)
{
    unsigned char h[HEAD];
    uint32_t *difat = NULL;
    size_t n_difat = 109, length = 0;
    fbp_status st;

    *t = (struct fbp_txrm){.path = path, .fd = fd, .size = fbp_file_bytes(fd)};
    FBP_TRY(fbp_read_at(fd, path, 0, h, sizeof h));
    t->shift = h[30];
    if (memcmp(h, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 8) != 0 || (t->shift != 9 && t->shift != 12))
        return damaged(t, "the header");
    const size_t sector = (size_t)1 << t->shift, n_fats = u32(h, 44), most = t->size >> t->shift;
    if (n_fats > most || u32(h, 64) > most || u32(h, 72) > most)
        return damaged(t, "a number of sectors");

    /* The table of sectors is itself in sectors, which the header and further sectors list. */
    FBP_TRY(fbp_calloc((void **)&difat, n_difat + (u32(h, 72) + 1) * sector / 4, 4, "a table"));
    memcpy(difat, h + 76, n_difat * sizeof *difat);
    for (uint32_t i = 0, s = u32(h, 68); i < u32(h, 72); i++, s = difat[n_difat]) {
        FBP_TRY_GOTO(fbp_read_at(fd, path, ((uint64_t)s + 1) << t->shift, difat + n_difat, sector));
        n_difat += sector / 4 - 1;
    }
    if (n_fats > n_difat)
        FBP_TRY_GOTO(damaged(t, "the table of sectors"));
    FBP_TRY_GOTO(fbp_calloc((void **)&t->fat, n_fats + 1, sector, "a table of sectors"));
    t->n_fat = n_fats * sector / 4;
    for (size_t i = 0; i < n_fats; i++)
        FBP_TRY_GOTO(fbp_read_at(fd, path, ((uint64_t)difat[i] + 1) << t->shift,
                                 t->fat + i * sector / 4, sector));

    for (uint32_t s = u32(h, 48); s < t->n_fat && length <= most; s = t->fat[s])
        length++;
    if (length == 0 || length > most)
        FBP_TRY_GOTO(damaged(t, "the folder"));
    t->n = length * sector / ENTRY;
    FBP_TRY_GOTO(fbp_calloc((void **)&t->folder, length, sector, "a folder"));
    FBP_TRY_GOTO(fbp_calloc((void **)&t->stack, 2 * t->n, sizeof *t->stack, "a folder"));
    FBP_TRY_GOTO(read_chain(t, false, u32(h, 48), 0, t->folder, length * sector));
    t->n_mini = u32(h, 64) * sector / 4;
    FBP_TRY_GOTO(fbp_calloc((void **)&t->mini, u32(h, 64) + 1, sector, "a table of sectors"));
    st = read_chain(t, false, u32(h, 60), 0, t->mini, t->n_mini * sizeof *t->mini);
fail:
    free(difat);
    return st;
}

void fbp_txrm_clear(struct fbp_txrm *t)
{
    free(t->fat);
    free(t->mini);
    free(t->stack);
    free(t->folder);
}

size_t fbp_txrm_find(const struct fbp_txrm *t, const char *name, uint64_t *bytes)
{
    size_t found = 0; /* the root */

    for (size_t length; *name; name += length + (name[length] == '/')) {
        size_t n_stack = 0, n_seen = 0;
        uint32_t e = u32(t->folder + ENTRY * found, 76);
        length = strcspn(name, "/");
        /* Children are a binary tree. A damaged one may have cycles, so its entries are counted. */
        for (found = 0, t->stack[n_stack++] = e; n_stack > 0 && !found && n_seen < t->n; n_seen++) {
            e = t->stack[--n_stack];
            if (e >= t->n)
                continue;
            const unsigned char *p = t->folder + ENTRY * (size_t)e;
            size_t i = 0;
            while (i < length && i < 31 && p[2 * i + 1] == 0 &&
                   strncasecmp((const char *)p + 2 * i, name + i, 1) == 0)
                i++;
            if (i == length && p[2 * i] == 0 && p[2 * i + 1] == 0)
                found = e;
            t->stack[n_stack++] = u32(p, 68);
            t->stack[n_stack++] = u32(p, 72);
        }
        if (!found)
            return 0;
    }
    *bytes = u32(t->folder + ENTRY * found, 120);
    return found;
}

fbp_status fbp_txrm_read(const struct fbp_txrm *t, size_t entry, uint64_t at, void *out, size_t n)
{
    const unsigned char *p = t->folder + ENTRY * entry;
    return read_chain(t, u32(p, 120) < MINI_CUTOFF, u32(p, 116), at, out, n);
}

fbp_status fbp_txrm_numbers(const struct fbp_txrm *t, const char *name, void *out, size_t n,
                            size_t *n_read)
{
    uint64_t bytes = 0;
    const size_t entry = fbp_txrm_find(t, name, &bytes);

    *n_read = entry && bytes / 4 >= n ? n : 0;
    return *n_read ? fbp_txrm_read(t, entry, 0, out, 4 * n) : FBP_OK;
}

/* ---- images as a source */

struct images {
    struct fbp_txrm t;
    size_t *entries; /* stream of each view */
};

static bool detect(const char *path, const unsigned char *head, size_t n)
{
    return n >= 8 && memcmp(head, "\xd0\xcf\x11\xe0", 4) == 0 &&
           fbp_has_extension(path, ".txrm .xrm");
}

static fbp_status read_rows(fbp_source *src, size_t slice, size_t row0, size_t n_rows, void *out)
{
    const struct images *m = src->state;
    const size_t row = src->info.n[0] * fbp_type_size(src->info.type);

    return fbp_txrm_read(&m->t, m->entries[slice], row0 * row, out, n_rows * row);
}

static void close_images(fbp_source *src)
{
    struct images *m = src->state;

    fbp_txrm_clear(&m->t);
    free(m->entries);
    free(m);
}

static fbp_status open_images(fbp_source *src)
{
    const bool reference = src->member && strcmp(src->member, "reference") == 0;
    uint32_t n[3] = {0, 0, 1}, type = 0;
    struct images *m = NULL;
    size_t got[4];
    uint64_t bytes = 0;
    char name[60];

    FBP_TRY(fbp_calloc((void **)&m, 1, sizeof *m, "a source"));
    src->state = m;
    src->close = close_images;
    src->read = read_rows;
    FBP_TRY(fbp_txrm_open(&m->t, src->fd, src->path));
    FBP_TRY(fbp_txrm_numbers(&m->t, "ImageInfo/ImageWidth", &n[0], 1, &got[0]));
    FBP_TRY(fbp_txrm_numbers(&m->t, "ImageInfo/ImageHeight", &n[1], 1, &got[1]));
    FBP_TRY(fbp_txrm_numbers(&m->t, "ImageInfo/NoOfImages", &n[2], 1, &got[2]));
    FBP_TRY(fbp_txrm_numbers(&m->t, reference ? "ReferenceData/DataType" : "ImageInfo/DataType",
                             &type, 1, &got[3]));
    n[2] = reference ? 1 : n[2];
    src->info.type = type == 5 ? FBP_U16 : FBP_F32;
    if (!got[0] || !got[1] || !got[2] || !got[3] || n[2] == 0 || n[2] > m->t.n)
        return damaged(&m->t, "the number, size or type of images");
    if ((type != 5 && type != 10) || (src->member && !reference))
        return FBP_UNSUPPORTED("%s: has images of type %u, not an array \"%s\" of uint16 (5) or "
                               "float32 (10); name the file, or FILE:reference",
                               src->path, type, src->member ? src->member : "");
    for (int i = 0; i < 3; i++)
        src->info.n[i] = n[i];
    const uint64_t needs = (uint64_t)n[0] * n[1];
    FBP_TRY(fbp_calloc((void **)&m->entries, n[2], sizeof *m->entries, "images"));
    for (uint32_t k = 1; k <= n[2]; k++) {
        snprintf(name, sizeof name, reference ? "ReferenceData/Image" : "ImageData%u/Image%u",
                 (k + 99) / 100, k);
        m->entries[k - 1] = fbp_txrm_find(&m->t, name, &bytes);
        if (!m->entries[k - 1] || bytes / fbp_type_size(src->info.type) < needs ||
            bytes > m->t.size)
            return damaged(&m->t, name);
    }
    src->held_bytes = 4 * (m->t.n_fat + m->t.n_mini) + (ENTRY + 16) * (uint64_t)m->t.n;
    return FBP_OK;
}

const struct fbp_format fbp_format_txrm = {
    .name = "txrm",
    .title = "TXRM",
    .extensions = ".txrm .xrm",
    .detect = detect,
    .open = open_images,
    .not_growing = "--follow cannot read a growing .txrm; reconstruct when the scan is complete",
    .has_members = true,
};
