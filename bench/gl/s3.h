/** @file s3.h  The variants of S3, drawn on a device of their own (internal). */
#ifndef FBP_BENCH_GL_S3_H
#define FBP_BENCH_GL_S3_H

#include "bench/common/modules.h"

/** The slots. */
extern const struct fbp_s3_kernels gl_s3;

#endif /* FBP_BENCH_GL_S3_H */
