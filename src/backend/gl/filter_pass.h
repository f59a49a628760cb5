/** @file filter_pass.h  A batch on its way through the filter's programs (internal; in the queue).
 */
#ifndef FBP_SRC_GL_FILTER_PASS_H
#define FBP_SRC_GL_FILTER_PASS_H

#include "backend/gl/filter_rows.h"
#include "backend/gl/gl.h"

/** A batch on its way. */
struct gl_pass {
    struct gl_device *dev;
    const struct fbp_batch *batch;
    struct gl_part raw, out; /* out: the batch's place, in the kernel's layout or plain */
    bool plain;
    size_t floats; /* where the raw samples are as floats, of raw.buffer */
    size_t view;   /* bytes of a view of them */
    size_t group;  /* bytes of a group, or plain view, of out */
    uint32_t weights;
    struct gl_rows rows;
};

/** Threads of a group, in most programs. */
enum { GL_PASS_THREADS = 64 };

/** What programs are told of a batch. */
struct gl_rows gl_pass_rows_of(const struct gl_device *dev, const struct fbp_batch *b);

/** A call of a program with what the pass knows when it runs. */
struct gl_call gl_pass_call_of(const struct gl_pass *p, enum gl_program_id program);

/** Bind a table, where the scan has it; and weights, if there are any. */
fbp_status gl_pass_bind_table(const struct gl_pass *p, struct gl_call *c, unsigned i, bool there,
                              size_t at, size_t bytes);
fbp_status gl_pass_bind_weights(const struct gl_pass *p, struct gl_call *c);
/** Bind samples of stored views [first, end) as floats, and as counts, two bytes each. */
fbp_status gl_pass_bind_samples(struct gl_pass *p, struct gl_call *c, size_t first, size_t end);
fbp_status gl_pass_bind_counts(struct gl_pass *p, struct gl_call *c, size_t first, size_t end);

/** Bytes of one image of the panel; of the complex rows of this call. */
size_t gl_pass_image_bytes(const struct fbp_job *job);
size_t gl_pass_complex_bytes(const struct gl_pass *p);

/** Pieces of `bytes` that a storage block holds, whatever their alignment; one at least. */
size_t gl_pass_fit_block(const struct gl_pass *p, size_t bytes);

/** Run a call for n, so many a group. */
fbp_status gl_pass_run_groups(struct gl_pass *p, struct gl_call *c, size_t n, size_t a_group);

/** filter_transform.c: rows of this call convolved in space, *at tells where they are then;
 * transformed in a group's memory, in place; or step by step, *at as before. */
fbp_status gl_pass_convolve(struct gl_pass *p, size_t *at);
fbp_status gl_pass_transform(struct gl_pass *p);
fbp_status gl_pass_transform_in_steps(struct gl_pass *p, size_t *at);
/** The program for transforms of this length in a group's memory. */
enum gl_program_id gl_pass_fft_of(size_t length);

#endif /* FBP_SRC_GL_FILTER_PASS_H */
