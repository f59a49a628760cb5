/** @file cache.h  Hashes, and measurements cached from run to run (internal). */
#ifndef FBP_SRC_CACHE_H
#define FBP_SRC_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A fast 64-bit hash of bytes, for fingerprints and journals. */

/** Hash of n bytes, chained through `seed`; not cryptographic.  The same on every machine. */
uint64_t fbp_hash(uint64_t seed, const void *data, size_t n);

/* What was measured, kept from run to run.
 *
 * The file ${XDG_CACHE_HOME:-~/.cache}/fbp/NAME holds a line of title and lines
 * "key<TAB>value".  It is a convenience: whatever is wrong with it or with its folder, a run goes
 * on without, and a damaged file is written anew.
 */

/** A file of its own for each sort of thing. */
struct fbp_kept_file {
    const char *name,
        *title; /**< the title with its line end; another one: nothing is kept there */
};

/** The value kept for `key`, of less than n bytes; false if there is none. */
bool fbp_kept_recall(const struct fbp_kept_file *file, const char *key, char *value, size_t n);

/** A whole file of the same folder, of at most FBP_KEPT_BYTES: NULL if there is none; to be freed.
 */
void *fbp_kept_read(const char *name, size_t *n);
/** Write it anew. */
void fbp_kept_write(const char *name, const void *data, size_t n);
enum { FBP_KEPT_BYTES = 16 << 20 };

/** Keep a value; keys and values have neither tabs nor line ends. */
void fbp_kept_keep(const struct fbp_kept_file *file, const char *key, const char *value);

#endif /* FBP_SRC_CACHE_H */
