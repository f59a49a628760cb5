/* Reader of HIS files, the format of Heimann's panels in Elekta's XVI (table fbp_format_his): a
 * header of 68 bytes, further bytes, and uint16 samples, all little-endian. In the header, from
 * byte 0: uint16 0x7000, 68; from byte 10: size of the further bytes, first column and row, last
 * column and row, number of images; at byte 32: type of the samples, 4 for uint16.
 *
 * As in RTK, the panel has 409.6 mm per side, and an intensity is 65536 minus the stored number.
 * Reference: RTK, src/rtkHisImageIO.cxx, include/rtkElektaSynergyRawLookupTableImageFilter.hxx.
 * Used by: array/formats.c. */
#include "array/file/bytes.h"
#include "array/file/format.h"

#include <string.h>

static bool detect(const char *path, const unsigned char *head, size_t n)
{
    (void)path;
    return n >= 4 && memcmp(head, "\0p\x44", 4) == 0;
}

static fbp_status open_his(fbp_source *src)
{
    enum { BYTES = 68, TYPE_UINT16 = 4 };
    static const double panel_mm = 409.6;
    uint16_t h[BYTES / 2];
    struct fbp_array_info *info = &src->info;

    FBP_TRY(fbp_read_at(src->fd, src->path, 0, h, sizeof h));
    if (fbp_is_foreign(false))
        fbp_swap_bytes(h, sizeof *h, BYTES / 2);
    info->n[2] = h[10];
    if (h[0] != 0x7000 || h[1] != BYTES || h[8] < h[6] || h[9] < h[7] || h[10] == 0)
        return FBP_INVALID("%s: the HIS header has %u images of columns %u to %u and rows %u to "
                           "%u; the file is damaged, or not a HIS file",
                           src->path, h[10], h[6], h[8], h[7], h[9]);
    if (h[16] != TYPE_UINT16)
        return FBP_UNSUPPORTED(
            "%s: samples of the HIS type %u are not supported; write uint16 (type 4)", src->path,
            h[16]);
    info->n[0] = (size_t)h[8] - h[6] + 1;
    info->n[1] = (size_t)h[9] - h[7] + 1;
    info->type = FBP_U16;
    info->scale = -1;
    info->offset = 65536;
    src->offset = BYTES + h[5];
    return fbp_source_take_pitch(
        src, (double[2]){panel_mm / (double)info->n[0], panel_mm / (double)info->n[1]});
}

const struct fbp_format fbp_format_his = {
    .name = "his",
    .title = "HIS",
    .extensions = ".his",
    .detect = detect,
    .open = open_his,
};
