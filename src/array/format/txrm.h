/** @file txrm.h  Streams of Zeiss Xradia's files (.txrm), which are OLE2 compound files, for the
 * format of arrays and the import of scans (internal).
 * Used by: array/format/, scan/format/. */
#ifndef FBP_SRC_ARRAY_FORMAT_TXRM_H
#define FBP_SRC_ARRAY_FORMAT_TXRM_H

#include "base/base.h"

/** An open compound file. */
struct fbp_txrm {
    const char *path; /**< for messages; not copied */
    int fd;
    uint64_t size;         /**< size of the file [bytes] */
    int shift;             /**< A sector has 2^shift bytes. */
    uint32_t *fat;         /**< [n_fat] next sector of each sector */
    uint32_t *mini;        /**< [n_mini] next sector of each sector of 64 bytes */
    uint32_t *stack;       /**< [2 n] work space for searches */
    unsigned char *folder; /**< [n] entries of 128 bytes for streams and folders */
    size_t n_fat, n_mini, n;
};

/** Read the tables of the file fd, which stays open. Call fbp_txrm_clear() also after a failure. */
fbp_status fbp_txrm_open(struct fbp_txrm *out, int fd, const char *path);
void fbp_txrm_clear(struct fbp_txrm *t);

/** Returns the directory entry of the stream `name`, such as "ImageInfo/Angles", and its size in
 * bytes; 0 if the file has no such stream.  Upper and lower case are equal. */
size_t fbp_txrm_find(const struct fbp_txrm *t, const char *name, uint64_t *bytes);

/** Read n bytes of the stream `entry` from byte `at` on. */
fbp_status fbp_txrm_read(const struct fbp_txrm *t, size_t entry, uint64_t at, void *out, size_t n);

/** Read the first n numbers of 4 bytes of a stream. *n_read: n, or 0 if the stream does not exist
 * or is shorter. */
fbp_status fbp_txrm_numbers(const struct fbp_txrm *t, const char *name, void *out, size_t n,
                            size_t *n_read);

#endif /* FBP_SRC_ARRAY_FORMAT_TXRM_H */
