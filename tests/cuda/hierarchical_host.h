/** @file hierarchical_host.h  Textures of fp16 for kernels on the host; handles as in CUDA (tests).
 */
#ifndef FBP_TESTS_CUDA_HIERARCHICAL_HOST_H
#define FBP_TESTS_CUDA_HIERARCHICAL_HOST_H

#include "backend/cuda/kernel.h"

FBP_BEGIN
unsigned long long host_texture_make(size_t columns, size_t rows, size_t layers, size_t channels);
void host_texture_put(unsigned long long texture, size_t x, size_t y, size_t layer, size_t channel,
                      float value);
void host_texture_free(unsigned long long texture);
FBP_END

#endif /* FBP_TESTS_CUDA_HIERARCHICAL_HOST_H */
