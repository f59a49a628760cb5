/** @file piece.h  Values as a sink stores them: converted, written and hashed in pieces (internal).
 */
#ifndef FBP_SRC_PIECE_H
#define FBP_SRC_PIECE_H

#include "fbp/array.h"

#include "base/base.h"

/** Bytes of a piece; a hash is chained over pieces from the start of what it is of. */
enum { FBP_PIECE_BYTES = 1 << 20 };

/** Hash of n bytes, chained over pieces. */
uint64_t fbp_piece_hash(uint64_t h, const void *data, size_t n);

/** What is put goes to a file from `at` on, a piece at a time. */
struct fbp_piece {
    int fd;
    const char *path;
    /** In place of fd; NULL: none. */
    fbp_status (*to)(void *user, uint64_t at, const void *data, size_t n);
    void *user;
    uint64_t at, hash;
    size_t n;
    char *buf;
};

fbp_status fbp_piece_open(struct fbp_piece *p, int fd, const char *path, uint64_t at);
fbp_status fbp_piece_put(struct fbp_piece *p, const void *data, size_t n);
/** n values as info->type, by its scale; *clipped grows.  values: double for FBP_F64, else float.
 */
fbp_status fbp_piece_put_values(struct fbp_piece *p, const struct fbp_array_info *info,
                                const void *values, size_t n, uint64_t *clipped);
/** The rest to the file: hash is that of all. */
fbp_status fbp_piece_flush(struct fbp_piece *p);
void fbp_piece_close(struct fbp_piece *p);

/**
 * Values to uint8 or uint16 in native byte order: number = (value - offset) / scale, rounded.
 * Those beyond either end become the end, and NaN 0: returns how many they are.
 */
uint64_t fbp_from_float(const struct fbp_array_info *info, const float *in, size_t n, void *out);

#endif /* FBP_SRC_PIECE_H */
