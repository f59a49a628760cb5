/* Makes files of Zeiss Xradia (.txrm): OLE2 compound files with sectors of 512 bytes, by [MS-CFB].
 * Shared by tests and seeds of the fuzzer. */
#ifndef FBP_TEST_TXRM_FILES_H
#define FBP_TEST_TXRM_FILES_H

#include "unit/linac_files.h"

enum { OLE_SECTOR = 512, OLE_SECTORS = 1024, OLE_ENTRIES = 40 };

/* A compound file that is being made; zero it first. Folders must be added before their streams. */
struct ole {
    struct bytes body, mini;
    uint32_t fat[OLE_SECTORS], mini_fat[OLE_SECTORS];
    unsigned char entry[OLE_ENTRIES][128];
    uint32_t n, last[OLE_ENTRIES]; /* last child of each folder */
};

/* Append data in sectors of `size` bytes, in reverse order if wanted; returns the first sector. */
static inline uint32_t ole_chain(struct bytes *to, uint32_t *next, size_t size, const void *data,
                                 size_t n, int reverse)
{
    const uint32_t count = (uint32_t)((n + size - 1) / size), first = (uint32_t)(to->n / size);

    add(to, NULL, count * size);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t s = reverse ? first + count - 1 - i : first + i;
        const size_t left = n - i * size;
        memcpy(to->p + s * size, (const char *)data + i * size, left < size ? left : size);
        next[s] = i + 1 == count ? 0xfffffffe : reverse ? s - 1 : s + 1;
    }
    return count == 0 ? 0xfffffffe : reverse ? first + count - 1 : first;
}

/* Add a folder (type 1) or stream (2) to the folder `parent`; returns its entry. */
static inline uint32_t ole_entry(struct ole *o, uint32_t parent, const char *name, int type,
                                 uint32_t start, uint32_t size)
{
    static const uint32_t none = 0xffffffff;
    const uint32_t e = o->n++;
    unsigned char *p = o->entry[e];
    const uint16_t length = (uint16_t)(2 * strlen(name) + 2);

    for (size_t i = 0; name[i]; i++)
        p[2 * i] = (unsigned char)name[i];
    memcpy(p + 64, &length, 2);
    p[66] = (unsigned char)type;
    memcpy(p + 68, &none, 4);
    memcpy(p + 72, &none, 4);
    memcpy(p + 76, &none, 4);
    memcpy(p + 116, &start, 4);
    memcpy(p + 120, &size, 4);
    if (e > 0)
        memcpy(o->last[parent] ? o->entry[o->last[parent]] + 68 + 4 * (e % 2)
                               : o->entry[parent] + 76,
               &e, 4);
    if (e > 0)
        o->last[parent] = e;
    return e;
}

static inline void ole_stream(struct ole *o, uint32_t folder, const char *name, const void *data,
                              size_t n)
{
    const uint32_t start = n < 4096 ? ole_chain(&o->mini, o->mini_fat, 64, data, n, 1)
                                    : ole_chain(&o->body, o->fat, OLE_SECTOR, data, n, o->n % 2);
    ole_entry(o, folder, name, 2, start, (uint32_t)n);
}

/* The whole file; frees what o holds. */
static inline struct bytes ole_finish(struct ole *o)
{
    const uint32_t mini_sectors = (uint32_t)((o->mini.n / 64 * 4 + OLE_SECTOR - 1) / OLE_SECTOR);
    uint32_t head[128] = {0}, size = (uint32_t)o->mini.n;
    struct bytes out = {0};

    uint32_t start = ole_chain(&o->body, o->fat, OLE_SECTOR, o->mini.p, o->mini.n, 0);
    memcpy(o->entry[0] + 116, &start, 4);
    memcpy(o->entry[0] + 120, &size, 4);
    head[15] = ole_chain(&o->body, o->fat, OLE_SECTOR, o->mini_fat, mini_sectors * OLE_SECTOR, 0);
    head[16] = mini_sectors;
    head[12] = ole_chain(&o->body, o->fat, OLE_SECTOR, o->entry, sizeof o->entry, 1);
    const uint32_t at = (uint32_t)(o->body.n / OLE_SECTOR), n = OLE_SECTORS * 4 / OLE_SECTOR;
    memcpy(head, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 8);
    head[6] = 3u << 16 | 0x3e;
    head[7] = 9u << 16 | 0xfffe;
    head[8] = 6;
    head[11] = n;
    head[14] = 4096;
    head[17] = 0xfffffffe;
    for (uint32_t i = 0; i < 109; i++)
        head[19 + i] = i < n ? at + i : 0xffffffff;
    add(&out, head, sizeof head);
    add(&out, o->body.p, o->body.n);
    add(&out, o->fat, sizeof o->fat);
    free(o->body.p);
    free(o->mini.p);
    return out;
}

/* A scan of n views of w x h uint16; shifts in pixels; reference: float32, NULL: none. */
static inline struct bytes make_txrm(const uint16_t *p, uint32_t w, uint32_t h, uint32_t n,
                                     const float *angles, const float *shifts,
                                     const float *reference, int cone)
{
    static struct ole o;
    const uint32_t type = 5, type_reference = 10, geometry = cone ? 1 : 2;
    float source[16], panel[16];
    const float pixel_um = 100;
    char name[20];

    memset(&o, 0, sizeof o);
    for (int i = 0; i < 16; i++) {
        source[i] = -200;
        panel[i] = 300;
    }
    ole_entry(&o, 0, "Root Entry", 5, 0, 0);
    const uint32_t info = ole_entry(&o, 0, "ImageInfo", 1, 0, 0);
    const uint32_t images = ole_entry(&o, 0, "ImageData1", 1, 0, 0);
    const uint32_t alignment = ole_entry(&o, 0, "Alignment", 1, 0, 0);
    ole_stream(&o, info, "imagewidth", &w, 4);
    ole_stream(&o, info, "ImageHeight", &h, 4);
    ole_stream(&o, info, "NoOfImages", &n, 4);
    ole_stream(&o, info, "DataType", &type, 4);
    ole_stream(&o, info, "PixelSize", &pixel_um, 4);
    ole_stream(&o, info, "XrayGeometry", &geometry, 4);
    ole_stream(&o, info, "Angles", angles, 4 * n);
    ole_stream(&o, info, "StoRADistance", source, 4 * n);
    ole_stream(&o, info, "DtoRADistance", panel, 4 * n);
    ole_stream(&o, alignment, "X-Shifts", shifts, 4 * n);
    ole_stream(&o, alignment, "Y-Shifts", shifts + n, 4 * n);
    for (uint32_t k = 0; k < n; k++) {
        name[0] = '\0';
        strcat(name, "Image");
        if (k + 1 >= 10)
            name[strlen("Image")] = (char)('0' + (k + 1) / 10), name[6] = '\0';
        const char digit[2] = {(char)('0' + (k + 1) % 10), '\0'};
        strcat(name, digit);
        ole_stream(&o, images, name, p + (size_t)k * w * h, (size_t)2 * w * h);
    }
    if (reference) {
        const uint32_t folder = ole_entry(&o, 0, "ReferenceData", 1, 0, 0);
        ole_stream(&o, folder, "DataType", &type_reference, 4);
        ole_stream(&o, folder, "Image", reference, (size_t)4 * w * h);
    }
    return ole_finish(&o);
}

#endif /* FBP_TEST_TXRM_FILES_H */
