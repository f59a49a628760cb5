/** @file hash.h  A fast 64-bit hash of bytes, for fingerprints and journals (internal). */
#ifndef FBP_SRC_HASH_H
#define FBP_SRC_HASH_H

#include <stddef.h>
#include <stdint.h>

/** Hash of n bytes, chained through `seed`; not cryptographic.  The same on every machine. */
uint64_t fbp_hash(uint64_t seed, const void *data, size_t n);

#endif /* FBP_SRC_HASH_H */
