#include "backend/gpu/chain.h"

enum { INNER = GPU_CHAIN_INNER, STEP = GPU_CHAIN_STEP };

static const size_t radices[] = {GPU_CHAIN_RADICES};

size_t gpu_chain_row_bytes(size_t length)
{
    return length / INNER * GPU_CHAIN_PADDED * 2 * sizeof(float);
}

size_t gpu_chain_length(size_t n_columns, size_t row_bytes)
{
    for (size_t i = 0; i < sizeof radices / sizeof *radices; i++) {
        const size_t length = radices[i] * INNER;
        if (length >= 2 * n_columns)
            return gpu_chain_row_bytes(length) <= row_bytes ? length : 0;
    }
    return 0;
}

size_t gpu_chain_turns(size_t length)
{
    return length + INNER;
}

double gpu_chain_turn(size_t length, size_t i)
{
    const bool outer = i < length;
    const size_t k = outer ? i : i - length, row = outer ? INNER : STEP;
    const size_t product = k / row * (k % row);

    return (double)product / (double)(outer ? length : INNER);
}

size_t gpu_chain_frequency(size_t length, size_t i)
{
    const size_t radix = length / INNER, across = radix * STEP, at = i % across;
    return at / STEP + radix * (at % STEP + STEP * (i / across));
}
