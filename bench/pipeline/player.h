/** @file player.h  A simulated scanner, which writes views at a given rate while fbp bench
 * follow reads them. Included by follow.c. */
#ifndef FBP_BENCH_PIPELINE_PLAYER_H
#define FBP_BENCH_PIPELINE_PLAYER_H

#include "fbp/recon.h"

#include <pthread.h>

/** How the views arrive: appended to a headerless file or a MetaImage, or in a file each. */
enum player_form { PLAYER_RAW, PLAYER_MHA, PLAYER_FILES };
extern const char *const player_forms[];

struct player {
    const float *views; /**< [n_views][rows][columns] */
    size_t n_views, columns, rows;
    double rate; /**< views a second */
    enum player_form form;
    char path[440];   /**< as in a scan: a file or a pattern */
    double written;   /**< time at which the last view was written (fbp_seconds()); valid after
                         player_end() */
    pthread_t thread; /**< the rest is the player's own */
    struct fbp_stopper *reader;
    bool failed;
    int fd, error;
};

/** Name the files in a folder, remove those of an earlier scan, and write the header, if any. */
int player_prepare(struct player *p, const char *folder);

/** How headerless files are described; type NONE for those with a header. */
struct fbp_raw player_raw(const struct player *p);

/** Begin to write, in a thread of its own; an exit status, failures reported.  A failure to write
 *  stops the reader, which would wait for views that do not come. */
int player_begin(struct player *p, struct fbp_stopper *reader);

/** Wait until all is written; an exit status. */
int player_end(struct player *p);

#endif /* FBP_BENCH_PIPELINE_PLAYER_H */
