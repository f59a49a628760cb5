/** @file slices.h The page of a volume, and full slices of the volume in any plane, which are read
 * from its file on request, for `fbp view --serve` and `fbp tune`. Implemented in slices.c.
 * Used by: cli/cmd_tune.c, cli/cmd_view.c, slices.c. */
#ifndef FBP_CLI_SLICES_H
#define FBP_CLI_SLICES_H

#include "page/page.h"
#include "serve/server.h"

#include <pthread.h>

/** A block of neighbouring slices of one plane, which are read together. */
struct slice_block {
    /** the block contains slices [first, first + n) of frame number `frame`; n 0: no slice */
    size_t frame, first, n;
    float *values; /**< [n][rows][columns] voxels, row 0 at the bottom */
};

/** Cache of slices. Voxels of a file lie along x: a slice yz needs all rows of the volume, a slice
 * xz one row per slice. Up to 32 slices yz or xz, within 64 MiB, are read together and cached,
 * because they lie in the same or neighbouring rows; of plane xy, one slice is cached. */
struct slices {
    const struct reduced *r;      /**< sizes of the volume, and its open file */
    pthread_mutex_t lock;         /**< protects the file and all members below */
    struct slice_block blocks[3]; /**< block of each plane: xy, xz, yz */
};

void slices_open(struct slices *s, const struct reduced *r);
void slices_close(struct slices *s);

/**
 * Read one slice, float32 in this machine's byte order: [rows][columns] of reduced_axes[plane].
 * Safe to call from several threads.
 * index, frame: inside the volume; *n: receives the number of values
 * @return values, to be freed by the caller; NULL on failure, see fbp_message().
 */
float *slices_get(struct slices *s, int plane, size_t index, size_t frame, size_t *n);

/** Page of a volume, and its slices, for a browser. */
struct volume_server {
    struct markup text; /**< finished page */
    struct slices slices;
    struct reduced reduced;
    fbp_source *volume;
};

/** Open a volume and make its page. program: command that serves the page, such as "fbp view
 * --serve". @return 0, or 1 after an error message; the caller calls volume_server_close(). */
int volume_server_open(struct volume_server *v, const char *title, const char *program,
                       struct page_wish *wish);
/** Answer a request, whose path without the token is "" (the page) or "slice". Thread-safe. */
void volume_server_answer(struct volume_server *v, const char *path, const char *query,
                          struct answer *out);
void volume_server_close(struct volume_server *v);

#endif /* FBP_CLI_SLICES_H */
