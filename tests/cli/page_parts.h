/** @file page_parts.h  What a page holds, taken apart again: attributes, samples, JSON. */
#ifndef FBP_TESTS_PAGE_PARTS_H
#define FBP_TESTS_PAGE_PARTS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Behind the i-th element that begins so; NULL: there are not as many. */
static inline const char *element(const char *text, const char *begin, size_t i)
{
    const char *at = text;

    for (size_t k = 0; at && k <= i; k++) {
        at = strstr(at, begin);
        at = at ? at + strlen(begin) : NULL;
    }
    return at;
}

static inline unsigned base64_digit(char c)
{
    return (unsigned)(c == '+'   ? 62
                      : c == '/' ? 63
                      : c <= '9' ? c - '0' + 52
                      : c <= 'Z' ? c - 'A'
                                 : c - 'a' + 26);
}

/* Bytes of base64 up to '<'; free(). */
static inline uint8_t *from_base64(const char *text, size_t *n)
{
    const size_t letters = strcspn(text, "<=");
    uint8_t *out = malloc(letters + 1);

    *n = 0;
    for (size_t i = 0, bits = 0, held = 0; out && i < letters; i++) {
        bits = bits << 6 | base64_digit(text[i]);
        held += 6;
        if (held >= 8) {
            held -= 8;
            out[(*n)++] = (uint8_t)(bits >> held & 255);
        }
    }
    return out;
}

/* The bytes of samples in an element; free(); *n 0: they cannot be unpacked. */
static inline uint8_t *unpacked(const char *text, size_t most, size_t *n)
{
    size_t size;
    uint8_t *packed = from_base64(text, &size), *out = malloc(most);
    uLongf got = most;

    *n = uncompress(out, &got, packed, size) == Z_OK ? got : 0;
    free(packed);
    return out;
}

/* Number i of n: bytes apart; of 16 bits, differences along rows. */
static inline double number_at(const uint8_t *bytes, size_t n, size_t i, int width, size_t row)
{
    uint16_t sum = 0;
    uint32_t bits = 0;
    float value;

    if (width == 1)
        return bytes[i];
    if (width == 2) {
        for (size_t k = i - i % row; k <= i; k++)
            sum = (uint16_t)(sum + (bytes[k] | bytes[n + k] << 8));
        return sum;
    }
    for (size_t b = 0; b < 4; b++)
        bits |= (uint32_t)bytes[b * n + i] << 8 * b;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

#endif /* FBP_TESTS_PAGE_PARTS_H */
