/** @file cache.h  A hash function for fingerprints of data, and the cache: files that keep
 * results of measurements, such as the speeds of links between devices, for later runs.
 * Used by: bench/, analysis/, array/, backend/, base/, geometry/, pipeline/, prep/, scan/. */
#ifndef FBP_SRC_BASE_CACHE_H
#define FBP_SRC_BASE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Fast 64-bit hash of n bytes and of `seed`, which may be the hash of earlier data; not
 * cryptographic.  It is the same on every machine, but depends on how the data are divided into
 * calls. */
uint64_t fbp_hash(uint64_t seed, const void *data, size_t n);

/* The cache: the file ${XDG_CACHE_HOME:-~/.cache}/fbp/NAME contains a title line and lines
 * "key<TAB>value".  If the file or its folder is not usable, nothing is cached, and no error is
 * reported; a damaged file is rewritten. */

/** A file of the cache. */
struct fbp_cache_file {
    const char *name;
    const char *title; /**< first line of the file, including its line end; a file with another
                          first line is not used */
};

/** Copy the value of `key` in a cache file to value[n]; returns false if the key is missing or the
 * value has n bytes or more. */
bool fbp_cache_get(const struct fbp_cache_file *file, const char *key, char *value, size_t n);

/** Store the value of a key in a file of the cache; both without tabs and line ends. */
void fbp_cache_put(const struct fbp_cache_file *file, const char *key, const char *value);

#endif /* FBP_SRC_BASE_CACHE_H */
