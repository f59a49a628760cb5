#include "backend/gl/error.h"

#include "backend/gl/plant.h"
#include "backend/gpu/host.h"

#include <epoxy/gl.h>

#include <stdio.h>

struct gl_plant gl_plant;

static const char *name_of(GLenum error)
{
    switch (error) {
    case GL_INVALID_ENUM:
        return "GL_INVALID_ENUM";
    case GL_INVALID_VALUE:
        return "GL_INVALID_VALUE";
    case GL_INVALID_OPERATION:
        return "GL_INVALID_OPERATION";
    case GL_INVALID_FRAMEBUFFER_OPERATION:
        return "GL_INVALID_FRAMEBUFFER_OPERATION";
    default:
        return "an unknown error";
    }
}

/* A lost context may report its loss forever, so only a few errors are cleared. */
static void clear_errors(void)
{
    for (int i = 0; i < 8 && glGetError() != GL_NO_ERROR; i++)
        ;
}

/* State of this thread's context.  lost: simulated by a test. */
static _Thread_local struct {
    char renderer[100];
    bool core, extension, lost, shared;
} here = {.renderer = "the renderer"};

void gl_check_begin(const char *renderer)
{
    snprintf(here.renderer, sizeof here.renderer, "%s", renderer);
    here.core = epoxy_gl_version() >= 45;
    here.extension = !here.core && epoxy_has_gl_extension("GL_ARB_robustness");
    here.lost = here.shared = false;
}

void gl_check_shared(void)
{
    here.shared = true;
}

const char *gl_check_name(void)
{
    return here.renderer;
}

bool gl_was_reset(void)
{
    return here.lost || (here.shared && gl_plant.share_lost) ||
           (here.core && glGetGraphicsResetStatus() != GL_NO_ERROR) ||
           (here.extension && glGetGraphicsResetStatusARB() != GL_NO_ERROR);
}

/* The error of this call, or the one that a test injects.  A simulated loss of a device does not
 * affect the shared context. */
static GLenum next_error(void)
{
    if (here.shared && gl_plant.lost > 0)
        return glGetError();
    const uint64_t n = atomic_fetch_add(&gl_plant.n_looks, 1) + 1;

    here.lost = here.lost || n == gl_plant.lost;
    if (here.lost)
        return GL_CONTEXT_LOST;
    return n == gl_plant.no_memory ? GL_OUT_OF_MEMORY : glGetError();
}

fbp_status gl_check_lost(void)
{
    return gpu_host->fail(FBP_ERR_DEVICE,
                          "gl: %s was reset while it computed, and its context is lost: close "
                          "other programs that use it, or use --device cpu",
                          here.renderer);
}

fbp_status gl_check(const char *what)
{
    const GLenum error = next_error();

    if (error == GL_NO_ERROR)
        return FBP_OK;
    clear_errors();
    if (error == GL_CONTEXT_LOST)
        return gl_check_lost();
    if (error == GL_OUT_OF_MEMORY)
        return gpu_host->fail(FBP_ERR_NOMEM,
                              "gl: %s: %s is out of memory: lower --device-memory or --batch, or "
                              "close other programs that use it",
                              what, here.renderer);
    return gpu_host->fail(FBP_ERR_DEVICE, "gl: %s: %s: %s: try again, or use --device cpu", what,
                          here.renderer, name_of(error));
}
