/* Kernel "hierarchical" of the CUDA device, compiled for the host (cuda_host.h), and textures for
 * it.
 */
#define FBP_CUDA_HOST "cuda/host/cuda_host.h"
#include "backend/cuda/hierarchical.cu"

#include "cuda/hierarchical_host.h"

extern "C" unsigned long long host_texture_make(size_t columns, size_t rows, size_t layers,
                                                size_t channels)
{
    host::texture *t = new host::texture{columns, rows, layers, channels, nullptr};

    t->texels = (_Float16 *)calloc(columns * rows * layers * channels, sizeof *t->texels);
    return (unsigned long long)(uintptr_t)t;
}

extern "C" void host_texture_put(unsigned long long texture, size_t x, size_t y, size_t layer,
                                 size_t channel, float value)
{
    host::texture_of(texture).at((long)x, (long)y, (long)layer)[channel] = (_Float16)value;
}

extern "C" void host_texture_free(unsigned long long texture)
{
    const host::texture *t = &host::texture_of(texture);

    free(t->texels);
    delete t;
}
