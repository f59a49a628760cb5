/** @file key_values.h  Facts of a machine as words: "net=25GB/s,disk=200GB/s" (internal). */
#ifndef FBP_SRC_KEY_VALUES_H
#define FBP_SRC_KEY_VALUES_H

#include "base/status.h"

#include <stddef.h>

enum fbp_key_unit {
    FBP_KEY_COUNT,  /**< size_t */
    FBP_KEY_INT,    /**< a whole number as int */
    FBP_KEY_NUMBER, /**< double without a unit */
    FBP_KEY_BYTES,  /**< uint64_t: G and GiB are 2^30, GB is 10^9 */
    FBP_KEY_RATE,   /**< double: bytes per second, "GB/s" is 10^9 */
    FBP_KEY_WORD,   /**< char[FBP_KEY_WORD_ROOM] */
};

enum { FBP_KEY_WORD_ROOM = 41 };

struct fbp_key {
    const char *name;
    enum fbp_key_unit unit;
    double least, most;
    const char *expected; /**< for messages; NULL for words */
    size_t offset;        /**< of the field in the struct that is filled */
};

/** A rate in a field of type double. */
#define FBP_RATE_KEY(NAME, OFFSET)                                                              \
    {                                                                                           \
        NAME, FBP_KEY_RATE, 1e6, 100e12, "a rate from 1MB/s to 100TB/s, such as 55GB/s", OFFSET \
    }

/**
 * Fill the fields of `out` that the text names; the others keep their values.
 *
 * who   begins messages
 * text  "KEY=VALUE,KEY=VALUE…"
 * @return FBP_ERR_INVALID for an unknown key, one that is given twice, or a wrong value.
 */
fbp_status fbp_key_values_read(const char *who, const char *text, const struct fbp_key *keys,
                               size_t n_keys, void *out);

#endif /* FBP_SRC_KEY_VALUES_H */
