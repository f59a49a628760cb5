/** @file tiff.h  TIFF files through libtiff: handles, pages and bands of rows (internal).
 *
 * A handle is used by one thread at a time; several read one file through one descriptor.
 */
#ifndef FBP_SRC_TIFF_H
#define FBP_SRC_TIFF_H

#include "io/format.h"

#include <tiffio.h>

/** What a page's tags say; checked. */
struct fbp_tiff_page {
    uint32_t w, h;
    enum fbp_type type;
    bool top_down;
    uint32_t band_rows; /**< of a strip or a tile; the last band may have fewer */
    uint32_t n_bands;
    uint32_t tile_w; /**< 0: strips */
    bool plain;      /**< the samples lie in one run, not compressed … */
    uint64_t at;     /**< … from here on; else: the page's directory */
};

/** A libtiff handle, the page it stands on, and the band that was decoded last. */
struct fbp_tiff {
    TIFF *tif;
    const char *path;
    int fd;
    uint64_t size, pos; /**< of the file */
    char error[200];    /**< the first that libtiff told */
    uint64_t at;        /**< directory of `page` */
    struct fbp_tiff_page page;
    bool has_band;
    uint32_t band;
    void *samples, *tile; /**< [band_rows][w]; a tile */
    size_t samples_bytes, tile_bytes;
    struct fbp_tiff *next;
};

/** fd, size: of a file that stays open; path is kept.  Stands on no page yet, but page 0's
 *  directory is read.  Free with fbp_tiff_close(). */
fbp_status fbp_tiff_open(struct fbp_tiff **out, int fd, const char *path, uint64_t size);
void fbp_tiff_close(struct fbp_tiff **t);

/** Fail with what libtiff told. */
fbp_status fbp_tiff_fail(const struct fbp_tiff *t, const char *what);

/** Check the current directory, number k, and describe it. */
fbp_status fbp_tiff_describe(const struct fbp_tiff *t, size_t k, struct fbp_tiff_page *out);

/** What a handle holds at most while it decodes such a page: a band, as it is and as it is stored,
 *  and a tile. */
uint64_t fbp_tiff_band_bytes(const struct fbp_tiff_page *p);

/** Rows [row0, row0 + n) of the page whose directory lies at `at`; native byte order. */
fbp_status fbp_tiff_read(struct fbp_tiff *t, uint64_t at, size_t row0, size_t n, void *out);

#endif /* FBP_SRC_TIFF_H */
