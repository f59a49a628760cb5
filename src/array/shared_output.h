/** @file shared_output.h  An output that several processes write, each its own slices (internal).
 *
 * Included by the sinks with files (output_files.c, sink_*.c) and by shared_output.c and
 * shared_journal.c, which implement it. docs/design-output.md explains the rules. Until the output
 * PATH is complete, these files exist beside it:
 *
 * PATH.part: the samples at their final positions (stack: one file per slice).
 *
 * PATH.part.log: the manifest. A process locks it while it joins and while it publishes.
 *
 * PATH.part.log.3of16.1a2b3c4d: the journal of one process, which holds its lock until it ends.
 *
 * PATH.part.log.3of16.1a2b3c4d.edges: boundary blocks, which are the samples of that process in
 * blocks of PATH.part that it shares with other processes.
 *
 * Two processes never write to the same block of PATH.part, because network file systems do not
 * merge such writes. A block is a page, or more if the file system reports a larger block, or a
 * layer of chunks in OME-Zarr. The process that finds all slices stored writes the header and all
 * boundary blocks into PATH.part, and renames it.
 *
 * A line of a journal is valid for other processes if a line "synced" follows, which is written
 * when the samples are on disk. Slices without "synced" of a process that has ended are recovered:
 * the next owner of these slices reads them and compares their hash.
 */
#ifndef FBP_SRC_ARRAY_SHARED_OUTPUT_H
#define FBP_SRC_ARRAY_SHARED_OUTPUT_H

#include "array/sink.h"

#include <dirent.h>

/** Slices [z0, z0 + nz). */
struct fbp_slice_run {
    size_t z0, nz;
};

/** The slices of a process, and its file of boundary blocks. */
struct fbp_boundary {
    struct fbp_slice_run
        *runs; /**< runs of consecutive slices; slices of other processes separate them */
    size_t n_runs;
    uint64_t block; /**< size of a block, which only one process writes [bytes] */
    char *path;
    int fd; /**< -1: no such file, for example of a stack */
};

struct fbp_shared_output {
    struct fbp_sink_share
        own; /**< parameters of this process; the member `mine` is not set, see struct fbp_sink */
    char *manifest; /**< name of the manifest */
    struct fbp_boundary boundary;
    uint64_t begin; /**< byte of the first line of slices in the journal of this process */
    bool joined;    /**< the manifest describes this output */
    bool complete;  /**< all slices are stored under their final names */
};

/* shared_output.c: joining, resuming and finishing */

/** Open all files of a shared output, and mark the slices that journals of other processes list as
 * stored. */
fbp_status fbp_shared_output_join(struct fbp_output *o, const struct fbp_sink_share *share);

/** Prepare to begin a new output if the locked journal of an earlier run is a manifest that is not
 * resumed: check that none of its processes runs, and remove their files. A record of a complete
 * output is only emptied. *is_shared: the journal is a manifest, and is resumed. */
fbp_status fbp_shared_output_yield(struct fbp_output *o, bool *is_shared);

/**
 * Join a shared output as its first process, or resume alone an output that several processes
 * began. The journal is locked. Slices that a single process wrote are resumed, too; its journal
 * becomes the manifest.
 *
 * share  slices of this process; NULL: all
 * alone  the journal is of an earlier run of a single process
 */
fbp_status fbp_shared_output_take_over(struct fbp_output *o, const struct fbp_sink_share *share,
                                       bool alone);

/* shared_journal.c: boundary blocks */

/** Fill in the runs of slices z with mine[z] = 1; n: number of slices. */
fbp_status fbp_boundary_runs(const unsigned char *mine, size_t n, struct fbp_boundary *out);
void fbp_boundary_clear(struct fbp_boundary *boundary);

/** Store bytes of this process at byte `at` of PATH.part, or in its file of boundary blocks. */
fbp_status fbp_boundary_put(void *output, uint64_t at, const void *data, size_t n);

/** Read bytes [at, at + n) of PATH.part as the process that owns `boundary` stored them. */
fbp_status fbp_boundary_get(struct fbp_output *o, const struct fbp_boundary *boundary, uint64_t at,
                            void *out, size_t n);

/** Whether the first byte of slice z is in the boundary file instead of PATH.part. */
bool fbp_boundary_has_start(struct fbp_output *o, const struct fbp_boundary *boundary, size_t z);

/** Copy the bytes of slices [z0, z0 + nz) that are in a boundary file to PATH.part. scratch: buffer
 * of FBP_WRITE_BUFFER_BYTES. */
fbp_status fbp_boundary_copy(struct fbp_output *o, const struct fbp_boundary *boundary, size_t z0,
                             size_t nz, void *scratch);

/* shared_journal.c: journals */

/** Journal and boundary file of a process of the output, which may run or have ended.
 */
struct fbp_peer {
    char *path; /**< path of its journal */
    size_t part, n_parts;
    char who[128]; /**< "process 123 on HOST" */
    bool alive;
    struct fbp_boundary boundary;
    char *text;         /**< text of the journal */
    const char *lines;  /**< first line of slices */
    const char *synced; /**< end of the lines whose samples are on disk, within `text` */
};

/** A journal line that lists slices. */
struct fbp_peer_line {
    size_t z0, nz;
    uint64_t hash;
    bool synced;
};

/** Create, lock and begin the journal of this process, and create its boundary file. */
fbp_status fbp_peers_begin_journal(struct fbp_output *o);

/** Iterator over the journals beside the manifest: initialize .output, .own and .manifest, and
 *  the status to FBP_OK. */
struct fbp_peers {
    struct fbp_output *output;
    bool own;      /**< include the journal of this sink */
    bool manifest; /**< include the slices in the manifest, as part 0 */
    bool begun;
    DIR *dir;
    struct fbp_peer peer; /**< current journal */
    const char *at;       /**< next line of the current journal */
};

/** Get the next journal. false: no more journals, or *st is an error, which the loop body may also
 * set. The loop must run until false. */
bool fbp_peers_next(struct fbp_peers *peers, fbp_status *st);

/** Get the next line of slices of all journals; false: no more lines, or *st is an error. */
bool fbp_peers_next_line(struct fbp_peers *peers, struct fbp_peer_line *line, fbp_status *st);

/** Get the next line of slices of one journal. *at: position in its text, initially peer->lines;
 * false: no more lines. Lines whose boundary blocks are lost or truncated are skipped: their slices
 * are computed again. */
bool fbp_peer_next(struct fbp_output *o, const struct fbp_peer *peer, const char **at,
                   struct fbp_peer_line *out);

/** Create and remove a file beside a journal. A network file system then reads the names in the
 * folder again; otherwise two processes that end at the same time could miss each other's journals.
 */
void fbp_peers_refresh(const char *journal);

/** Remove a journal and its boundary file; returns 0, or an errno. */
int fbp_peer_remove_journal(const char *journal);

#endif /* FBP_SRC_ARRAY_SHARED_OUTPUT_H */
