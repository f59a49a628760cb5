/** @file tiff.h  TIFF files through libtiff: handles (tiff_handle.c), pages and sources (tiff.c),
 * ImageJ's description of a stack (tiff_write.c) (internal). One thread at a time uses a handle;
 * several handles read one file through one descriptor.
 * Used by: tiff.c, tiff_handle.c, tiff_write.c. */
#ifndef FBP_SRC_ARRAY_FORMAT_TIFF_H
#define FBP_SRC_ARRAY_FORMAT_TIFF_H

#include "array/file/format.h"

#include <setjmp.h>
#include <tiffio.h>

/** Properties of a page, from its checked tags. */
struct fbp_tiff_page {
    uint32_t w, h;
    enum fbp_type type;
    bool top_down;
    /** rows per band, which is a strip or a row of tiles; the last band of a page may have fewer */
    uint32_t band_rows;
    uint32_t n_bands;
    uint32_t tile_w; /**< 0: strips */
    bool plain;      /**< The samples of the page are contiguous in the file and not compressed. */
    /** byte of the page's first sample; if not `plain`, byte of the page's directory */
    uint64_t at;
};

enum { FBP_TIFF_MASK_BYTES = 1024 };

/** A libtiff handle with its current page, and the rows (a strip, or a row of tiles) that it
 * decoded last. */
struct fbp_tiff {
    TIFF *tif;
    const char *path;
    int fd;
    uint64_t size, pos;           /**< size of the file; position of libtiff in it */
    bool big_endian, big;         /**< big: BigTIFF */
    uint64_t first;               /**< byte of the directory of page 0 */
    uint64_t next_at;             /**< byte of the directory of the next page; 0: none */
    uint64_t text_at, text_bytes; /**< position and size of the description of page 0 */
    unsigned char mask[FBP_TIFF_MASK_BYTES];
    uint64_t mask_at;
    /** number of bytes of `mask`, a shortened copy of the current directory, that libtiff reads
     * instead of the bytes of the file from mask_at on; 0: none */
    size_t mask_bytes;
    char error[200]; /**< first error of libtiff */
    /** return point if libtiff runs out of memory; NULL: no call of libtiff is running */
    jmp_buf *out;
    bool abandoned; /**< An error left libtiff by longjmp(): the handle must not be used again. */
    /** status with a message if reading failed or memory was missing; FBP_OK: no failure */
    fbp_status failed;
    uint64_t at; /**< byte of the directory of `page` */
    struct fbp_tiff_page page;
    bool has_band;
    uint32_t band;
    void *samples, *tile; /**< [band_rows][w]; a tile */
    size_t samples_bytes, tile_bytes;
    struct fbp_tiff *next;
};

/** Open a libtiff handle on a file of `size` bytes, and read the directory of page 0. `fd` and
 * `path` must stay valid. The caller frees it by fbp_tiff_close(). */
fbp_status fbp_tiff_open(struct fbp_tiff **out, int fd, const char *path, uint64_t size);
void fbp_tiff_close(struct fbp_tiff **t);

/** Make another page's directory libtiff's current one: the directory at byte `at`
 * (fbp_tiff_go_to()), or the one that follows the current one (fbp_tiff_go_on()). */
fbp_status fbp_tiff_go_to(struct fbp_tiff *t, uint64_t at, const char *what);
fbp_status fbp_tiff_go_on(struct fbp_tiff *t);

/** Get the tag ImageDescription of page 0, malloc'ed; NULL if the page has none. */
fbp_status fbp_tiff_text(const struct fbp_tiff *t, char **out);

/** Check the tags of the current page, which has index k, and store their contents in *out. */
fbp_status fbp_tiff_describe(const struct fbp_tiff *t, size_t k, struct fbp_tiff_page *out);

/** Read rows [row0, row0 + n) of the page whose directory is at byte `at`, in native byte order. */
fbp_status fbp_tiff_read(struct fbp_tiff *t, uint64_t at, size_t row0, size_t n, void *out);

/*
 * ImageJ's description of a stack: lines "key=value" after "ImageJ=…", which ImageJ's FileSaver
 * writes and tifffile, Bio-Formats and napari read. Lengths are in the description's unit;
 * XResolution and YResolution count pixels per unit, whatever ResolutionUnit is.
 */

/**
 * Fill in *info, whose n and type are known, from an ImageDescription text[n]: everything from its
 * line "fbp=…", else position, scale and unit from ImageJ's keys.
 *
 * per_unit: XResolution and YResolution; 0: the file has none
 * slices: *slices: number of slices that the text states, at least 1; 0: the text is not ImageJ's
 * @return FBP_ERR_NOMEM
 */
fbp_status fbp_imagej_described(const char *text, size_t n, const double per_unit[2],
                                struct fbp_array_info *info, size_t *slices);

#endif /* FBP_SRC_ARRAY_FORMAT_TIFF_H */
