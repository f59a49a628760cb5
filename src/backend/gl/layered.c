#include "backend/gl/layered.h"

#include <epoxy/gl.h>

static bool takes_layers(int size, int layers)
{
    GLint width = 0;

    glTexImage3D(GL_PROXY_TEXTURE_2D_ARRAY, 0, GL_R32F, size, size, layers, 0, GL_RED, GL_FLOAT,
                 NULL);
    glGetTexLevelParameteriv(GL_PROXY_TEXTURE_2D_ARRAY, 0, GL_TEXTURE_WIDTH, &width);
    return glGetError() == GL_NO_ERROR && width > 0;
}

/* Drivers answer for sizes, not for what is free: by layers of 64 MiB. */
uint64_t gl_layered_bytes(int size, int layers)
{
    const int side = size < 4096 ? size : 4096;
    int fits = 0, fails = layers + 1;

    while (fails - fits > 1) {
        const int n = fits + (fails - fits) / 2;
        if (takes_layers(side, n))
            fits = n;
        else
            fails = n;
    }
    return fits == layers ? UINT64_MAX : (uint64_t)fits * 4 * (uint64_t)side * (uint64_t)side;
}
