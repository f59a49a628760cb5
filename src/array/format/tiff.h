/** @file tiff.h  TIFF files through libtiff: handles (tiff_handle.c), pages and sources (tiff.c),
 * ImageJ's description of a stack (tiff_write.c) (internal).
 *
 * Included by these three files. One thread at a time uses a handle; several handles read one file
 * through one descriptor.
 */
#ifndef FBP_SRC_ARRAY_FORMAT_TIFF_H
#define FBP_SRC_ARRAY_FORMAT_TIFF_H

#include "array/file/format.h"

#include <setjmp.h>
#include <tiffio.h>

/** Checked contents of a page's tags. */
struct fbp_tiff_page {
    uint32_t w, h;
    enum fbp_type type;
    bool top_down;
    uint32_t band_rows; /**< rows of a strip or a tile; the last band of a page may have fewer */
    uint32_t n_bands;
    uint32_t tile_w; /**< 0: strips */
    bool plain;      /**< The samples are contiguous in the file and not compressed. */
    uint64_t at;     /**< byte of the first sample; if not `plain`, byte of the page's directory */
};

enum { FBP_TIFF_MASK_BYTES = 1024 };

/** A libtiff handle with its current page, and the band of rows that was decoded last. */
struct fbp_tiff {
    TIFF *tif;
    const char *path;
    int fd;
    uint64_t size, pos;           /**< of the file */
    bool big_endian, big;         /**< big: BigTIFF */
    uint64_t first;               /**< directory of page 0 */
    uint64_t next_at;             /**< directory behind the masked one; 0: none */
    uint64_t text_at, text_bytes; /**< page 0's description */
    unsigned char mask[FBP_TIFF_MASK_BYTES];
    uint64_t mask_at;
    size_t mask_bytes; /**< bytes of `mask` that libtiff gets; 0: no mask */
    char error[200];   /**< first error of libtiff */
    jmp_buf *out; /**< return point if libtiff has no memory; NULL: no call of libtiff is running */
    bool abandoned; /**< An error left libtiff by longjmp(): the handle must not be used again. */
    fbp_status
        failed; /**< failure of reading the file, or missing memory, with a message; FBP_OK: none */
    uint64_t at; /**< directory of `page` */
    struct fbp_tiff_page page;
    bool has_band;
    uint32_t band;
    void *samples, *tile; /**< [band_rows][w]; a tile */
    size_t samples_bytes, tile_bytes;
    struct fbp_tiff *next;
};

/** Open a handle on a file of `size` bytes, and read the directory of page 0. `fd` and `path` must
 * stay valid. Free it by fbp_tiff_close(). */
fbp_status fbp_tiff_open(struct fbp_tiff **out, int fd, const char *path, uint64_t size);
void fbp_tiff_close(struct fbp_tiff **t);

/** Make the directory at byte `at` (go_to), or the next one (go_on), libtiff's current one.
 */
fbp_status fbp_tiff_go_to(struct fbp_tiff *t, uint64_t at, const char *what);
fbp_status fbp_tiff_go_on(struct fbp_tiff *t);

/** Get the malloc'ed ImageDescription of page 0; NULL if it has none. */
fbp_status fbp_tiff_text(const struct fbp_tiff *t, char **out);

/** Check the current directory, of page k, and describe it in *out. */
fbp_status fbp_tiff_describe(const struct fbp_tiff *t, size_t k, struct fbp_tiff_page *out);

/** Read rows [row0, row0 + n) of the page whose directory is at byte `at`, in native byte order. */
fbp_status fbp_tiff_read(struct fbp_tiff *t, uint64_t at, size_t row0, size_t n, void *out);

/*
 * ImageJ's description of a stack: lines "key=value" behind "ImageJ=…", as ImageJ's FileSaver
 * writes and tifffile, Bio-Formats and napari read it.  Lengths are in the description's unit;
 * XResolution and YResolution count pixels per unit, whatever ResolutionUnit is.
 */

/**
 * Fill *info, whose n and type are known, from a description text[n]: all of its line "fbp=…", else
 * place, scale and unit by ImageJ's own keys.
 *
 * per_unit: XResolution and YResolution; 0: none
 * slices: number of slices that it states, at least 1; 0: it is no such description
 * @return FBP_ERR_NOMEM
 */
fbp_status fbp_imagej_described(const char *text, size_t n, const double per_unit[2],
                                struct fbp_array_info *info, size_t *slices);

#endif /* FBP_SRC_ARRAY_FORMAT_TIFF_H */
