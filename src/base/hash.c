#include "base/hash.h"

#include <string.h>

static const uint64_t FACTOR = 0xd6e8feb86659fd93u;

static uint64_t mix(uint64_t x)
{
    x ^= x >> 32;
    x *= FACTOR;
    x ^= x >> 32;
    x *= FACTOR;
    return x ^ x >> 32;
}

/* Little-endian on every machine. */
static inline uint64_t load64(const unsigned char *p)
{
    uint64_t x;

    memcpy(&x, p, sizeof x);
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(x) : x;
}

static uint64_t load_rest(const unsigned char *p, size_t n)
{
    unsigned char padded[8] = {0};
    memcpy(padded, p, n < 8 ? n : 8);
    return load64(padded);
}

static inline uint64_t take(uint64_t lane, const unsigned char *p)
{
    lane = (lane ^ load64(p)) * FACTOR;
    return lane ^ lane >> 29;
}

uint64_t fbp_hash(uint64_t seed, const void *data, size_t n)
{
    const unsigned char *p = data;
    /* Four variables, not an array: compilers keep an array's loop, and its lanes in memory. */
    uint64_t a = seed ^ 0x9e3779b97f4a7c15u, b = seed + 1, c = seed ^ 0x94d049bb133111ebu,
             d = seed + n;

    for (; n >= 32; n -= 32, p += 32) {
        a = take(a, p);
        b = take(b, p + 8);
        c = take(c, p + 16);
        d = take(d, p + 24);
    }
    uint64_t h = mix(a) ^ mix(b + 1) * 3 ^ mix(c + 2) * 5 ^ mix(d + 3) * 7;
    for (; n > 0; n -= n < 8 ? n : 8, p += 8)
        h = mix(h ^ load_rest(p, n));
    return mix(h);
}
