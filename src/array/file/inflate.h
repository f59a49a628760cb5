/** @file inflate.h  Samples behind zlib or gzip (internal). */
#ifndef FBP_SRC_INFLATE_H
#define FBP_SRC_INFLATE_H

#include "array/file/format.h"

/** Bytes that deflate makes of one, at most: 258 of two bits. */
enum { FBP_DEFLATE_AT_MOST = 1032 };

/** Read the samples of src, `bytes` in all, through zlib, from a stream (zlib's or gzip's frame)
 * that starts at src->offset in src->fd; its first `skip` bytes are not samples. */
fbp_status fbp_inflate_open(struct fbp_source *src, uint64_t skip, uint64_t bytes);

/** Can a file of `size` bytes hold, from src->offset on, a stream of `stated` bytes (0: not stated)
 *  that holds `skip` + `bytes`?  FBP_ERR_INVALID if not. */
fbp_status fbp_inflate_check(const struct fbp_source *src, uint64_t stated, uint64_t size,
                             uint64_t skip, uint64_t bytes);

/** Do these bytes start a gzip file? */
bool fbp_is_gzip(const unsigned char *head, size_t n);

/** The first bytes of a stream: as many as come out of head[n], at most max; 0 if it is none. */
fbp_status fbp_inflate_head(const unsigned char *head, size_t n, unsigned char *out, size_t max,
                            size_t *got);

#endif /* FBP_SRC_INFLATE_H */
