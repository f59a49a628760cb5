/** @file tiff.h  TIFF files through libtiff: handles, pages and bands of rows (internal).
 *
 * A handle is used by one thread at a time; several read one file through one descriptor.
 */
#ifndef FBP_SRC_TIFF_H
#define FBP_SRC_TIFF_H

#include "array/file/format.h"

#include <setjmp.h>
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

enum { FBP_TIFF_MASK_BYTES = 1024 };

/** A libtiff handle, the page it stands on, and the band that was decoded last. */
struct fbp_tiff {
    TIFF *tif;
    const char *path;
    int fd;
    uint64_t size, pos;           /**< of the file */
    bool big_endian, big;         /**< BigTIFF */
    uint64_t first;               /**< directory of page 0 */
    uint64_t next_at;             /**< the directory behind the masked one; 0: none */
    uint64_t text_at, text_bytes; /**< of page 0's description */
    unsigned char mask[FBP_TIFF_MASK_BYTES];
    uint64_t mask_at;
    size_t mask_bytes; /**< what libtiff sees there; 0: the file */
    char error[200];   /**< the first that libtiff told */
    jmp_buf *out;      /**< where libtiff is left if it has no memory; NULL: it is not in there */
    bool abandoned;    /**< it was left so */
    fbp_status failed; /**< in reading the file, with a message; or memory was missing */
    uint64_t at;       /**< directory of `page` */
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

/** Did libtiff do it, with all of the file and all the memory that it wanted?  It goes on without
 *  tags that it could not read. */
fbp_status fbp_tiff_check(const struct fbp_tiff *t, bool done, const char *what);

/** n bytes that the file has; it may have become shorter. */
fbp_status fbp_tiff_take(const struct fbp_tiff *t, uint64_t at, void *out, size_t n, size_t *got);

/** From here on libtiff sees of the directory at `at` what is needed alone; of one that it will
 *  refuse, all. */
fbp_status fbp_tiff_mask(struct fbp_tiff *t, uint64_t at);
fbp_status fbp_tiff_mask_first(struct fbp_tiff *t);

/** Lay the mask over n bytes that were read at `at`. */
void fbp_tiff_put_mask(const struct fbp_tiff *t, uint64_t at, void *buf, size_t n);

/** Make the directory at `at`, or the one that comes next, libtiff's current one. */
fbp_status fbp_tiff_go_to(struct fbp_tiff *t, uint64_t at, const char *what);
fbp_status fbp_tiff_go_on(struct fbp_tiff *t);

/** malloc'ed description of page 0; NULL if there is none. */
fbp_status fbp_tiff_text(const struct fbp_tiff *t, char **out);

/** Check the current directory, number k, and describe it. */
fbp_status fbp_tiff_describe(const struct fbp_tiff *t, size_t k, struct fbp_tiff_page *out);

/** What a handle holds at most while it decodes such a page: a band, as it is and as it is stored,
 *  and a tile. */
uint64_t fbp_tiff_band_bytes(const struct fbp_tiff_page *p);

/** Rows [row0, row0 + n) of the page whose directory lies at `at`; native byte order. */
fbp_status fbp_tiff_read(struct fbp_tiff *t, uint64_t at, size_t row0, size_t n, void *out);


extern const struct fbp_sink_format fbp_tiff_files[];
extern const struct fbp_slice_format fbp_tiff_slices;

#endif /* FBP_SRC_TIFF_H */
