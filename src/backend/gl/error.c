#include "backend/gl/error.h"

#include "backend/gpu/host.h"

#include <epoxy/gl.h>

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
    case GL_CONTEXT_LOST:
        return "GL_CONTEXT_LOST";
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

fbp_status gl_check(const char *what)
{
    const GLenum error = glGetError();

    if (error == GL_NO_ERROR)
        return FBP_OK;
    forget();
    if (error == GL_OUT_OF_MEMORY)
        return gpu_host->fail(FBP_ERR_NOMEM,
                              "gl: %s: the renderer is out of memory: lower --device-memory or "
                              "--batch, or close other programs that use it",
                              what);
    return gpu_host->fail(FBP_ERR_DEVICE, "gl: %s: %s: try again, or use --device cpu", what,
                          name_of(error));
}
