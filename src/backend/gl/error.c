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

/* A lost context may report its loss for ever, so that no more than a few are asked for. */
static void forget(void)
{
    for (int i = 0; i < 8 && glGetError() != GL_NO_ERROR; i++)
        ;
}

/* What is known of the context of this thread: how it tells of its loss, and whether a test wants
 * it to be lost. */
static _Thread_local struct {
    char renderer[100];
    bool core, extension, lost, shared;
} own = {.renderer = "the renderer"};

void gl_check_begin(const char *renderer)
{
    snprintf(own.renderer, sizeof own.renderer, "%s", renderer);
    own.core = epoxy_gl_version() >= 45;
    own.extension = !own.core && epoxy_has_gl_extension("GL_ARB_robustness");
    own.lost = own.shared = false;
}

void gl_check_shared(void)
{
    own.shared = true;
}

const char *gl_check_name(void)
{
    return own.renderer;
}

bool gl_was_reset(void)
{
    return own.lost || (own.shared && gl_plant.share_lost) ||
           (own.core && glGetGraphicsResetStatus() != GL_NO_ERROR) ||
           (own.extension && glGetGraphicsResetStatusARB() != GL_NO_ERROR);
}

/* What this call finds, or what a test wants it to.  One device that is lost leaves what it shares
 * with others alone. */
static GLenum look(void)
{
    if (own.shared && gl_plant.lost > 0)
        return glGetError();
    const uint64_t n = atomic_fetch_add(&gl_plant.n_looks, 1) + 1;

    own.lost = own.lost || n == gl_plant.lost;
    if (own.lost)
        return GL_CONTEXT_LOST;
    return n == gl_plant.no_memory ? GL_OUT_OF_MEMORY : glGetError();
}

fbp_status gl_check_lost(void)
{
    return gpu_host->fail(FBP_ERR_DEVICE,
                          "gl: %s was reset while it computed, and its context is lost: close "
                          "other programs that use it, or use --device cpu",
                          own.renderer);
}

fbp_status gl_check(const char *what)
{
    const GLenum error = look();

    if (error == GL_NO_ERROR)
        return FBP_OK;
    forget();
    if (error == GL_CONTEXT_LOST)
        return gl_check_lost();
    if (error == GL_OUT_OF_MEMORY)
        return gpu_host->fail(FBP_ERR_NOMEM,
                              "gl: %s: %s is out of memory: lower --device-memory or --batch, or "
                              "close other programs that use it",
                              what, own.renderer);
    return gpu_host->fail(FBP_ERR_DEVICE, "gl: %s: %s: %s: try again, or use --device cpu", what,
                          own.renderer, name_of(error));
}
