/* Copies slices of the job of Ino et al. (2009) to the host, and takes them out of RGBA texels
 * on the device or the host. Called by s3.c.
 * Used by: s3.c. */
#include "bench/gl/s3_draw.h"

#include "backend/module.h"

#include <stdlib.h>
#include <string.h>

fbp_status gl_s3_unpack_program(struct gl_s3_run *r)
{
    static const char unpack[] =
        "#version 330 core\n"
        "uniform sampler2DArray slices;\n"
        "uniform int layer;\n"
        "layout(location = 0) out float a;\n"
        "layout(location = 1) out float b;\n"
        "layout(location = 2) out float c;\n"
        "layout(location = 3) out float d;\n"
        "void main()\n{\n"
        "    vec4 s = texelFetch(slices, ivec3(gl_FragCoord.xy, layer), 0);\n"
        "    a = s.x;\n    b = s.y;\n    c = s.z;\n    d = s.w;\n"
        "}\n";

    return gl_s3_program(&r->unpack, gl_s3_cover_text(), unpack, "unpacking");
}

static void read_layer(const struct gl_s3_run *r, const struct gl_s3_stack *from, size_t layer,
                       float *out)
{
    gl_s3_stack_target(from, layer, 1, r->plain);
    glReadBuffer(GL_COLOR_ATTACHMENT0);
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    glReadPixels(0, 0, (GLsizei)from->size[0], (GLsizei)from->size[1],
                 from->channels == GL_S3_FOUR ? GL_RGBA : GL_RED, GL_FLOAT, out);
}

/* Texels of a layer into n slices. */
static void take_apart(const float *texels, size_t slice, size_t n, float *out)
{
    for (size_t i = 0; i < slice; i++) /* texels are read once */
        for (size_t z = 0; z < n; z++)
            out[z * slice + i] = texels[GL_S3_FOUR * i + z];
}

static fbp_status read_by_device(struct gl_s3_run *r, const struct gl_s3_stack *volume, float *out,
                                 size_t n)
{
    const size_t slice = volume->size[0] * volume->size[1];
    struct gl_s3_stack four = {0};
    const fbp_status st =
        gl_s3_stack_make(&four, r->limits, false, 1, volume->size, GL_S3_FOUR, "slices");

    for (size_t z = 0; st == FBP_OK && z < n; z++) {
        if (z % GL_S3_FOUR == 0) {
            glUseProgram(r->unpack);
            gl_s3_set(r->unpack, "layer", gl_s3_stack_bind(volume, z / GL_S3_FOUR, 0));
            gl_s3_stack_target(&four, 0, GL_S3_FOUR, r->plain);
            glViewport(0, 0, (GLsizei)four.size[0], (GLsizei)four.size[1]);
            gl_s3_draw();
        }
        r->time->unpacking += gl_s3_lap(r);
        read_layer(r, &four, z % GL_S3_FOUR, out + z * slice);
        r->time->readback += gl_s3_lap(r);
    }
    gl_s3_stack_clear(&four);
    return st;
}

static fbp_status read_by_host(struct gl_s3_run *r, const struct gl_s3_stack *volume, float *out,
                               size_t n)
{
    const size_t slice = volume->size[0] * volume->size[1];
    float *texels = malloc(GL_S3_FOUR * slice * sizeof *texels);

    if (!texels)
        return gpu_host->fail(
            FBP_ERR_NOMEM, "ino2009: out of memory for %zu bytes of slices: close other programs",
            GL_S3_FOUR * slice * sizeof *texels);
    for (size_t z = 0; z < n; z += GL_S3_FOUR) {
        const size_t some = n - z < GL_S3_FOUR ? n - z : GL_S3_FOUR;
        read_layer(r, volume, z / GL_S3_FOUR, texels);
        r->time->readback += gl_s3_lap(r);
        take_apart(texels, slice, some, out + z * slice);
        r->time->unpacking += gl_s3_lap(r);
    }
    free(texels);
    return FBP_OK;
}

/* Set voxels outside the region to 0: a group of four slices computes voxels that any of its slices
 * needs. */
static void leave_out(const struct gl_s3_run *r, size_t first, size_t n)
{
    for (size_t i = first; i < first + n; i++)
        if (!r->wanted[i])
            r->voxels[i] = 0;
}

fbp_status gl_s3_volume_read(struct gl_s3_run *r, const struct gl_s3_stack *volume, size_t z0,
                             size_t n)
{
    const size_t slice = volume->size[0] * volume->size[1];
    float *out = r->voxels + z0 * slice;

    if (gl_s3_packs_slices(r->variant))
        FBP_TRY(r->way->unpack_on_device ? read_by_device(r, volume, out, n)
                                         : read_by_host(r, volume, out, n));
    else
        for (size_t z = 0; z < n; z++)
            read_layer(r, volume, z, out + z * slice);
    r->time->readback += gl_s3_lap(r);
    if (r->way->kill)
        leave_out(r, z0 * slice, n * slice);
    r->time->unpacking += gl_s3_lap(r);
    return gl_check("slices");
}
