/** @file s3_kernel.h  The variants of S3 as kernels of the pipeline, used if a job names them. */
#ifndef FBP_BENCH_GL_S3_KERNEL_H
#define FBP_BENCH_GL_S3_KERNEL_H

/** From now on jobs may name them: "s3-a" … "s3-m". */
void gl_s3_add_kernels(void);

#endif /* FBP_BENCH_GL_S3_KERNEL_H */
