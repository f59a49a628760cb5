#include "fft/fft.h"

#include <stdint.h>

size_t fbp_fft_length(size_t n)
{
    for (size_t length = n + (n & 1); length && length <= SIZE_MAX / 16; length += 2) {
        size_t rest = length;
        for (size_t p = 2; p <= 5; p++)
            while (rest % p == 0)
                rest /= p;
        if (rest == 1)
            return length;
    }
    return 0;
}
