/** @file cache.h  Decoded chunks that stay a while, as neighbouring rows and slices are often in
 * the same ones (internal).
 */
#ifndef FBP_SRC_CACHE_H
#define FBP_SRC_CACHE_H

#include "base/base.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct fbp_cache {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct fbp_cached *slots;
    size_t n_slots, chunk_bytes;
    uint64_t clock;
};

/** The most slots, which are searched one by one. */
enum { FBP_CACHE_MOST = 1024 };

/** Without a slot. */
void fbp_cache_open(struct fbp_cache *cache);
/** n_slots: as many as threads that hold chunks at the same time, at least, or as there are chunks.
 */
fbp_status fbp_cache_make(struct fbp_cache *cache, size_t n_slots, size_t chunk_bytes);
void fbp_cache_close(struct fbp_cache *cache);

/** Decode chunk k. */
typedef fbp_status fbp_cache_load_fn(void *user, size_t k, void *out);

/** A chunk s in memory, to be given back; whoever asks first loads it. */
fbp_status fbp_cache_take(struct fbp_cache *cache, size_t k, fbp_cache_load_fn *load, void *user,
                          struct fbp_cached **out);
void fbp_cache_give_back(struct fbp_cache *c, struct fbp_cached *s);
const void *fbp_cache_data(const struct fbp_cached *s);

#endif /* FBP_SRC_CACHE_H */
