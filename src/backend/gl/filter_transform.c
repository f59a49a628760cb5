/* Rows through the ramp: in space, or by transforms. */
#include "backend/gl/filter_pass.h"

#include "backend/gpu/chain.h"

/* In space, from one place to another. */
static fbp_status convolve(struct gl_pass *p, size_t from, size_t to)
{
    const struct gpu_tables *t = &p->dev->tables;
    const size_t half_width = p->dev->job->filter->half_width, n = p->rows.n;
    const size_t pieces = (p->rows.row_length + GL_PASS_THREADS - 1) / GL_PASS_THREADS;
    const size_t tap = t->in_double ? sizeof(double) : sizeof(float);
    struct gl_call c = gl_pass_call_of(p, t->in_double ? GL_P_CONVOLVE_DOUBLE : GL_P_CONVOLVE);

    p->rows.half_width = (uint32_t)half_width;
    FBP_TRY(gl_pass_bind_table(p, &c, 0, true, from, gl_pass_complex_bytes(p)));
    FBP_TRY(gl_pass_bind_table(p, &c, 1, true, t->filter, (2 * half_width + 1) * tap));
    FBP_TRY(gl_pass_bind_table(p, &c, 2, true, to, gl_pass_complex_bytes(p)));
    const fbp_status st = gl_pass_run_groups(p, &c, n * pieces, 1);
    p->rows.n = (uint32_t)n;
    return st;
}

fbp_status gl_pass_convolve(struct gl_pass *p, size_t *at)
{
    const struct gpu_tables *t = &p->dev->tables;
    size_t other = t->work;

    *at = t->rows;
    for (unsigned i = 0; i < p->dev->job->filter->passes; i++) {
        const size_t from = *at;
        FBP_TRY(convolve(p, from, other));
        *at = other;
        other = from;
    }
    return FBP_OK;
}

/* The program for transforms of this length. */
enum gl_program_id gl_pass_fft_of(size_t length)
{
    static const size_t radices[] = {GPU_CHAIN_RADICES};
    int i = 0;

    while (radices[i] * GPU_CHAIN_INNER != length)
        i++;
    return (enum gl_program_id)(GL_P_FFT_2 + i);
}

/* By transforms, in place. */
fbp_status gl_pass_transform(struct gl_pass *p)
{
    const struct gpu_tables *t = &p->dev->tables;
    struct gl_call c = gl_pass_call_of(p, gl_pass_fft_of(t->fft_length));

    FBP_TRY(gl_pass_bind_table(p, &c, 0, true, t->rows, gl_pass_complex_bytes(p)));
    FBP_TRY(gl_pass_bind_table(p, &c, 1, true, t->filter, t->fft_length * sizeof(float)));
    FBP_TRY(gl_pass_bind_table(p, &c, 2, true, t->turns,
                               gpu_chain_turns(t->fft_length) * 2 * sizeof(float)));
    return gl_pass_run_groups(p, &c, p->rows.n, 1);
}

/* One step of the transform, of `span` points so far: from *at to *other, which change places. */
static fbp_status run_stage(struct gl_pass *p, size_t *at, size_t *other)
{
    const size_t n = p->rows.n, from = *at, apart = p->rows.row_length / p->rows.radix;
    struct gl_call c = gl_pass_call_of(p, GL_P_STAGE);

    FBP_TRY(gl_pass_bind_table(p, &c, 0, true, from, gl_pass_complex_bytes(p)));
    FBP_TRY(gl_pass_bind_table(p, &c, 1, true, *other, gl_pass_complex_bytes(p)));
    const fbp_status st =
        gl_pass_run_groups(p, &c, n * ((apart + GL_PASS_THREADS - 1) / GL_PASS_THREADS), 1);
    p->rows.n = (uint32_t)n;
    *at = *other;
    *other = from;
    return st;
}

/* Forwards, or `back`, of a length that has no other factors than 2, 3 and 5. */
static fbp_status run_stages(struct gl_pass *p, bool back, size_t *at, size_t *other)
{
    static const uint32_t radices[] = {4, 2, 3, 5};

    p->rows.span = 1;
    for (size_t i = 0; i < sizeof radices / sizeof *radices; i++)
        while (p->rows.row_length / p->rows.span % radices[i] == 0) {
            p->rows.radix = radices[i];
            p->rows.exchange = back && p->rows.span * radices[i] == p->rows.row_length;
            FBP_TRY(run_stage(p, at, other));
            p->rows.span *= radices[i];
        }
    return FBP_OK;
}

/* By transforms, step by step between `rows` and `work`; *at: where the filtered rows are. */
fbp_status gl_pass_transform_in_steps(struct gl_pass *p, size_t *at)
{
    const struct gpu_tables *t = &p->dev->tables;
    struct gl_call c = gl_pass_call_of(p, GL_P_MULTIPLY);
    size_t other = t->work;

    *at = t->rows;
    FBP_TRY(run_stages(p, false, at, &other));
    FBP_TRY(gl_pass_bind_table(p, &c, 0, true, *at, gl_pass_complex_bytes(p)));
    FBP_TRY(gl_pass_bind_table(p, &c, 1, true, t->filter, (t->row_length / 2 + 1) * sizeof(float)));
    FBP_TRY(gl_pass_run_groups(p, &c, p->rows.n, 1));
    return run_stages(p, true, at, &other);
}
