/* What an output in chunks takes: known from its name, before it is opened. */
#include "array/chunked.h"
#include "array/formats.h"

#include "base/system.h"
#include "base/threads.h"
#include "base/text.h"

#include <stdlib.h>
#include <zlib.h>

enum {
    MOST_EDGE = 512,     /* float64 of that: 1 GiB; other readers take less than 2 GiB */
    MEMORY_SHARE = 16,   /* of the memory, for levels */
    ZLIB_BYTES = 1 << 19 /* its tables, of a thread */
};

size_t fbp_chunk_edge(void)
{
    const char *given = fbp_environment(FBP_ENV_CHUNK);
    const unsigned long wanted = given ? strtoul(given, NULL, 10) : 0;

    return wanted >= 2 && wanted <= MOST_EDGE ? (size_t)wanted / 2 * 2 : FBP_CHUNK_EDGE;
}

size_t fbp_chunk_bytes(const struct fbp_levels *l, enum fbp_type type)
{
    return l->chunk[0] * l->chunk[1] * l->chunk[2] * fbp_type_size(type);
}

/* Raising takes a chunk, the means of four, and what was read of a packed one; packing a chunk and
 * what becomes of it. */
static uint64_t thread_bytes(size_t chunk_bytes, bool compressed)
{
    return compressed ? 2 * (uint64_t)chunk_bytes + compressBound(chunk_bytes) + ZLIB_BYTES
                      : 2 * (uint64_t)chunk_bytes;
}

/* A packed chunk becomes a plain one again, one at a time: slices of it come once more. */
static uint64_t unpacking_bytes(size_t chunk_bytes, bool compressed)
{
    return compressed ? chunk_bytes + compressBound(chunk_bytes) + ZLIB_BYTES : 0;
}

size_t fbp_chunk_threads(size_t chunk_bytes, bool compressed, uint64_t bytes)
{
    const uint64_t one = unpacking_bytes(chunk_bytes, compressed);
    const uint64_t n = bytes > one ? (bytes - one) / thread_bytes(chunk_bytes, compressed) : 0;

    return n < 1 ? 1 : n < FBP_CHUNK_THREADS ? (size_t)n : FBP_CHUNK_THREADS;
}

uint64_t fbp_chunk_level_bytes(size_t chunk_bytes, bool compressed, size_t threads)
{
    return unpacking_bytes(chunk_bytes, compressed) +
           threads * thread_bytes(chunk_bytes, compressed);
}

void fbp_output_needs(const char *path, const size_t n[3], enum fbp_type type, bool compress,
                      uint64_t limit, struct fbp_output_needs *out)
{
    const size_t cores = (size_t)fbp_core_count();
    const struct fbp_sink_format *format;
    struct fbp_levels levels;
    size_t length;

    *out = (struct fbp_output_needs){0};
    format = path ? fbp_format_to_write(path, &length) : NULL;
    if (!format || !format->chunks)
        return;
    fbp_levels_make(n, fbp_chunk_edge(), &levels);
    const size_t chunk = fbp_chunk_bytes(&levels, type);
    const size_t fit = fbp_chunk_threads(chunk, compress, limit / MEMORY_SHARE);
    out->layer = levels.chunk[2];
    out->writer_bytes = chunk;
    out->level_bytes = fbp_chunk_level_bytes(chunk, compress, fit < cores ? fit : cores);
}
