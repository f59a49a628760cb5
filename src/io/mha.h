/** @file mha.h  What the MetaImage files share (internal). */
#ifndef FBP_SRC_MHA_H
#define FBP_SRC_MHA_H

#include "io/format.h"

/** Read the samples of src, `bytes` in all, through zlib, from a stream that starts at
 *  src->offset in src->fd. */
fbp_status fbp_mha_inflate_open(struct fbp_source *src, uint64_t bytes);

#endif /* FBP_SRC_MHA_H */
