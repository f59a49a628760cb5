/* What every run of S3 has, of a benchmark's job or of batches of the pipeline. */
#include "bench/gl/s3_draw.h"

#include "backend/module.h"

#include <stdlib.h>

fbp_status gl_s3_run_open(struct gl_s3_run *r, size_t n_views)
{
    glGenVertexArrays(1, &r->vertices);
    glBindVertexArray(r->vertices);
    glGenFramebuffers(2, r->frames);
    glGenFramebuffers(1, &r->plain);
    r->numbers = calloc(n_views, sizeof *r->numbers);
    if (!r->numbers)
        return gpu_host->fail(FBP_ERR_NOMEM, "S3: cannot allocate a list of %zu views", n_views);
    r->stretch = 1;
    if (r->way->half) {
        float scale;
        FBP_TRY(gpu_half_scale(r->job, &scale));
        r->stretch = gl_s3_stretch(scale);
    }
    return gl_check("framebuffers");
}

/* Does a program that adds up in one way do it in the other, too? */
static bool adds_alike(const struct fbp_s3_way *a, const struct fbp_s3_way *b)
{
    return a->variant == b->variant && a->sum == b->sum && a->exact == b->exact &&
           a->count == b->count;
}

static fbp_status need_sums(struct gl_s3_run *r)
{
    if (r->add && adds_alike(&r->added, r->way))
        return FBP_OK;
    glDeleteProgram(r->add);
    r->added = *r->way;
    return gl_s3_sum_program(r);
}

fbp_status gl_s3_run_programs(struct gl_s3_run *r)
{
    const struct fbp_s3_way *way = r->way;

    if (way->count && 10 * r->limits->major + r->limits->minor < 42)
        return gpu_host->fail(FBP_ERR_UNSUPPORTED, "S3: fragments are counted from OpenGL 4.2 on");
    FBP_TRY(need_sums(r));
    if (way->kill && !r->mask)
        FBP_TRY(gl_s3_mask_program(r));
    if (way->pack_on_device && gl_s3_texel(r->variant) == GL_S3_FOUR && !r->pack)
        FBP_TRY(gl_s3_pack_program(r, false, &r->pack));
    if (way->unpack_on_device && gl_s3_packs_slices(r->variant) && !r->unpack)
        FBP_TRY(gl_s3_unpack_program(r));
    return FBP_OK;
}

void gl_s3_run_close(struct gl_s3_run *r)
{
    const GLuint programs[] = {r->weigh, r->convolve,  r->add,   r->mask,
                               r->pack,  r->pack_half, r->unpack};

    glUseProgram(0);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        glDeleteProgram(programs[i]);
    gl_s3_stack_clear(&r->stack);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDeleteFramebuffers(2, r->frames);
    glDeleteFramebuffers(1, &r->plain);
    glDeleteVertexArrays(1, &r->vertices);
    free(r->numbers);
    *r = (struct gl_s3_run){0};
}
