#include "backend/gl/views.h"

#include "backend/gl/error.h"

#include <epoxy/gl.h>

struct gl_texture gl_texture_of(const struct fbp_job *job, size_t n_groups, size_t n_rows)
{
    const struct gpu_kernel *k = gpu_kernel_of(job);
    struct gl_texture t = {.width = gpu_row_texels(k, job),
                           .height = 1,
                           .layers = n_groups,
                           .texels = gpu_texels_a_column(k, job)};

    while (t.height < n_rows)
        t.height *= 2;
    return t;
}

unsigned gl_format_of(const struct gpu_kernel *k)
{
    static const GLenum formats[2][3] = {{GL_R32F, GL_RG32F, GL_RGBA32F},
                                         {GL_R16F, GL_RG16F, GL_RGBA16F}};

    return formats[k->bits == 16][k->channels / 2];
}

size_t gl_filtered_bytes(const struct fbp_job *job, size_t n_views, size_t n_rows)
{
    const struct gpu_kernel *k = gpu_kernel_of(job);
    const size_t n = gl_groups_of(job, n_views);
    const struct gl_texture t = gl_texture_of(job, n, n_rows);
    const size_t texel = (size_t)k->channels * (size_t)k->bits / 8;

    return k->channels ? t.width * t.height * t.layers * texel : k->views_bytes(job, n, n_rows);
}

size_t gl_views_before(const struct fbp_job *job, size_t n_views, size_t n_rows)
{
    const struct gpu_kernel *k = gpu_kernel_of(job);

    return k->channels ? 0 : k->views_bytes(job, n_views, n_rows);
}

fbp_status gl_texture_make(struct gl_buffer *b, const struct fbp_job *job,
                           const struct gl_texture *t)
{
    b->shape = *t;
    glGenTextures(1, &b->texture);
    glBindTexture(GL_TEXTURE_2D_ARRAY, b->texture);
    glTexStorage3D(GL_TEXTURE_2D_ARRAY, 1, gl_format_of(gpu_kernel_of(job)), (GLsizei)t->width,
                   (GLsizei)t->height, (GLsizei)t->layers);
    glBindTexture(GL_TEXTURE_2D_ARRAY, 0);
    return gl_check("a texture of filtered views");
}

fbp_status gl_sampler_make(unsigned *sampler)
{
    static const GLfloat zeros[4] = {0, 0, 0, 0};

    glGenSamplers(1, sampler);
    glSamplerParameteri(*sampler, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glSamplerParameteri(*sampler, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glSamplerParameteri(*sampler, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_BORDER);
    glSamplerParameteri(*sampler, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_BORDER);
    glSamplerParameterfv(*sampler, GL_TEXTURE_BORDER_COLOR, zeros);
    return gl_check("a sampler");
}
