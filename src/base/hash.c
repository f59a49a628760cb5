#include "base/hash.h"

#include <string.h>

static uint64_t mix(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    return x ^ x >> 32;
}

/* Little-endian on every machine; the compiler makes one load of it. */
static uint64_t load64(const unsigned char *p)
{
    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 |
           (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 |
           (uint64_t)p[7] << 56;
}

static uint64_t load_rest(const unsigned char *p, size_t n)
{
    unsigned char padded[8] = {0};
    memcpy(padded, p, n < 8 ? n : 8);
    return load64(padded);
}

uint64_t fbp_hash(uint64_t seed, const void *data, size_t n)
{
    const unsigned char *p = data;
    uint64_t lane[4] = {seed ^ 0x9e3779b97f4a7c15u, seed + 1, seed ^ 0x94d049bb133111ebu, seed + n};

    for (; n >= 32; n -= 32, p += 32)
        for (size_t i = 0; i < 4; i++) {
            lane[i] = (lane[i] ^ load64(p + 8 * i)) * 0xd6e8feb86659fd93u;
            lane[i] ^= lane[i] >> 29;
        }
    uint64_t h = mix(lane[0]) ^ mix(lane[1] + 1) * 3 ^ mix(lane[2] + 2) * 5 ^ mix(lane[3] + 3) * 7;
    for (; n > 0; n -= n < 8 ? n : 8, p += 8)
        h = mix(h ^ load_rest(p, n));
    return mix(h);
}
