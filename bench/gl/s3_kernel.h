/** @file s3_kernel.h  The variants of S3 as kernels of the pipeline, asked for by name (internal).
 */
#ifndef FBP_SRC_GL_S3_KERNEL_H
#define FBP_SRC_GL_S3_KERNEL_H

#include "backend/gl/kernel.h"

struct gl_s3_kernel;
struct gl_renderer;

/** Device memory that it takes beyond batches, slabs and tables. */
size_t gl_s3_kernel_bytes(const struct fbp_job *job, const struct fbp_s3_way *way);

/** What batches are added by; in the queue, as is all below. */
fbp_status gl_s3_kernel_open(struct gl_s3_kernel **out, const struct fbp_job *job,
                             const struct fbp_s3_way *way, const struct gl_renderer *renderer);
void gl_s3_kernel_close(struct gl_s3_kernel **kernel);

/** Add a batch.  principal: of all views. */
fbp_status gl_s3_kernel_add(struct gl_s3_kernel *kernel, const struct gpu_principal *principal,
                            const struct gl_bp *bp);

#endif /* FBP_SRC_GL_S3_KERNEL_H */
