#include "backend/gl/plant.h"

#include "backend/gl/egl.h"

static uint64_t lower(uint64_t own, uint64_t wanted)
{
    return wanted > 0 && wanted < own ? wanted : own;
}

/* From what the renderers had at first. */
static void apply(void)
{
    static struct gl_renderer own[GL_MOST_RENDERERS];
    static bool known;

    for (int i = 0; i < gl_renderers_listed(); i++) {
        struct gl_renderer *r = (struct gl_renderer *)(uintptr_t)gl_renderer_at(i);
        if (!known)
            own[i] = *r;
        r->block_bytes = lower(own[i].block_bytes, gl_plant.block_bytes);
        r->buffer_bytes = lower(own[i].buffer_bytes, gl_plant.buffer_bytes);
        r->texture_bytes = lower(own[i].texture_bytes, gl_plant.texture_bytes);
        r->layers = (int)lower((uint64_t)own[i].layers, (uint64_t)gl_plant.layers);
        r->software = own[i].software && !gl_plant.hardware;
    }
    known = true;
}

struct gl_plant gl_plant = {.apply = apply};
