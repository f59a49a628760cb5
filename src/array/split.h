/** @file split.h  An output of several files, of a run of slices each, and one that joins them
 * (internal).
 *
 * PATH is the small file that joins them; it names the folder PATH.3f2a91bc, where the pieces lie:
 * "slices_0000-0063.h5" and so on.  PATH.part is the new PATH from the start, and so what is
 * unfinished is known by it, and one rename publishes all.  The pieces of an older PATH lie in a
 * folder of another name, and are removed when the new PATH is there; until then PATH.part.old says
 * which folder that is, as a process may be killed in between.
 *
 * The number in the folder's name is a hash of what the output is, so that the same volume is the
 * same files.  If PATH names this folder already, another hash is taken.
 *
 * What a process puts is an address of one run of all samples.  Files know no order among
 * themselves: whoever puts the first sample of one writes its header, too.
 */
#ifndef FBP_SRC_SPLIT_H
#define FBP_SRC_SPLIT_H

#include "array/sink.h"

enum { FBP_SPLIT_FILES_MOST = 4096 };

/** A piece at work. */
struct fbp_split_open {
    int fd; /**< -1: it is not open */
    size_t users;
    bool put;          /**< this process has put bytes into it, … */
    bool headed;       /**< its header, too */
    uint64_t identity; /**< of the file that it put them into, first */
};

struct fbp_split {
    struct fbp_split_files pieces;
    size_t slices;               /**< of a file; the last of a volume may have fewer */
    char *folder;                /**< where pieces.folder is */
    int dir;                     /**< that, open; -1: not yet */
    struct fbp_split_open *open; /**< a file each; under `lock` */
    size_t n_open;
    pthread_mutex_t lock;
};

/** s->split of a sink whose sizes and path are set: its files have names.  No file is opened.
 *  FBP_ERR_INVALID if they are too many. */
fbp_status fbp_split_create(struct fbp_sink *s, size_t slices);
void fbp_split_destroy(struct fbp_split **split);

/** FBP_ERR_UNSUPPORTED: it is of a format that knows no such thing. */
fbp_status fbp_split_refuse(const char *path);

/* --- samples (split_files.c) --- */

fbp_status fbp_split_put(const struct fbp_sink *s, uint64_t at, const void *data, size_t n);
fbp_status fbp_split_get(const struct fbp_sink *s, uint64_t at, void *out, size_t n);

/** The next address from `at` on, or the last one up to it, that begins a stripe of a file, or a
 *  file. */
uint64_t fbp_split_stripe_from(const struct fbp_sink *s, uint64_t at, uint64_t stripe);
uint64_t fbp_split_stripe_to(const struct fbp_sink *s, uint64_t at, uint64_t stripe);

/** Reserve room for all files, in their folder; a full disk is found here. */
fbp_status fbp_split_reserve(const struct fbp_sink *s);

/** Headers that this process has not written: it alone has written the output. */
fbp_status fbp_split_put_headers(const struct fbp_sink *s);

/** All files are there under their names, whole; else a message says which is not. */
fbp_status fbp_split_check(const struct fbp_sink *s);
/** FBP_ERR_IO: of file k, `what`, which another program has done. */
fbp_status fbp_split_lost(const struct fbp_sink *s, size_t k, const char *what);
/** All are written: do they begin as they should? */
fbp_status fbp_split_check_headers(const struct fbp_sink *s);

/** What this process has put is on the disk, all files are there, and none is open any more. */
fbp_status fbp_split_sync(const struct fbp_sink *s);

/* --- the folder (split_folder.c) --- */

/** Create PATH.part and the folder; open those that an earlier run or another process of ours left,
 *  s->fd -1: they are gone, s->split->dir -1: the folder is. */
fbp_status fbp_split_begin(struct fbp_sink *s);
fbp_status fbp_split_create_folder(const struct fbp_sink *s);
fbp_status fbp_split_reopen(struct fbp_sink *s, const struct fbp_part_inputs *inputs);

/** Remove PATH.part with its pieces, and what was replaced, if they are `ours`, or empty. */
fbp_status fbp_split_clear(struct fbp_sink *s, const struct fbp_part_inputs *inputs, bool ours);

/** Remove what this sink has made. */
void fbp_split_remove(const struct fbp_sink *s);

/* --- what is replaced (split_old.c): of any sink whose format may be split --- */

/** The number behind "BASE." of the folder that a file names; "": none. */
struct fbp_split_token {
    char text[9];
};
fbp_status fbp_split_named(const struct fbp_sink *s, const char *file, struct fbp_split_token *out);

/** For messages that tell what to remove beside PATH.part: malloc'ed " and PATH.TOKEN", the pieces
 *  that it alone names, or ""; NULL when out of memory. */
char *fbp_split_left(const struct fbp_sink *s);

/** Remove a folder of pieces, PATH.TOKEN. */
fbp_status fbp_split_remove_folder(const struct fbp_sink *s, const struct fbp_split_token *token);

/** No input lies in the folder that PATH.TOKEN is. */
fbp_status fbp_split_spare(const struct fbp_sink *s, const struct fbp_sink_params *params,
                           const struct fbp_split_token *token);

/** The note's name is free, or that of a note of ours. */
fbp_status fbp_split_check_note(const struct fbp_sink *s);

/** PATH gets another file: note, on disk, the pieces that it names now. */
fbp_status fbp_split_note_old(const struct fbp_sink *s);
/** PATH is the new one: remove the pieces that are noted; s->note says that some are still there.
 *  It is still the old one: forget them. */
fbp_status fbp_split_settle_old(struct fbp_sink *s);

#endif /* FBP_SRC_SPLIT_H */
