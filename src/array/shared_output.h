/** @file shared_output.h  An output that several processes write, each its own slices (internal).
 *
 * Declares the functions of shared_output.c (joining, recovery, publication) and shared_journal.c
 * (journals, boundary blocks), and lists the files beside an unfinished output.
 * docs/design-output.md explains the rules.
 * Used by: array/.
 */
#ifndef FBP_SRC_ARRAY_SHARED_OUTPUT_H
#define FBP_SRC_ARRAY_SHARED_OUTPUT_H

#include "array/sink.h"

#include <dirent.h>

/*
 * While an output PATH is incomplete, these files exist beside it:
 *
 * PATH.part: the samples at their final positions (stack: one file per slice).
 *
 * PATH.part.log: the manifest. A process locks it while it joins and while it publishes.
 *
 * PATH.part.log.3of16.1a2b3c4d: the journal of one process, which holds its lock until it ends.
 *
 * PATH.part.log.3of16.1a2b3c4d.edges: boundary blocks, which are the samples of that process in
 * blocks of PATH.part that it shares with other processes (not of a stack).
 *
 * Two processes never write to the same block of PATH.part while they compute, because network file
 * systems do not merge such writes. A block is a memory page, or more if the file system reports a
 * larger block, or a layer of chunks in OME-Zarr. The process that finds all slices stored writes
 * the header and all boundary blocks into PATH.part, and renames it.
 *
 * A line of a journal is valid for other processes if a line "synced" follows, which is written
 * when the samples are on disk. Slices without "synced" of a process that has ended are recovered:
 * the next owner of these slices reads them and compares their hash.
 */

/** Consecutive slices [z0, z0 + nz). */
struct fbp_slice_run {
    size_t z0, nz;
};

/** The slices of one process, and its file of boundary blocks: blocks of PATH.part that it shares
 * with other processes. */
struct fbp_boundary {
    struct fbp_slice_run *runs; /**< runs of consecutive slices of the process */
    size_t n_runs;
    uint64_t block; /**< size of a block [bytes]; only one process writes a block of PATH.part */
    char *path;
    int fd; /**< descriptor of the boundary file; -1: no such file */
};

struct fbp_shared_output {
    /** number and role of this process, and number of processes; its slices are in fbp_sink.mine,
     * own.mine is not used */
    struct fbp_sink_share own;
    char *manifest; /**< path of the manifest, the file PATH.part.log */
    struct fbp_boundary boundary;
    /** byte at which the lines of stored slices begin in the journal of this process */
    uint64_t begin;
    bool joined;   /**< the manifest describes this output */
    bool complete; /**< true: the output is complete and has its final name */
};

/* shared_output.c: joining, resuming and finishing an output that several processes write */

/** Join an output that several processes write: open its files, begin a journal, mark the slices
 * that other processes have stored on disk, and recover slices of this process that an ended
 * process had stored. */
fbp_status fbp_shared_output_join(struct fbp_output *o, const struct fbp_sink_share *share);

/** If o->log, which is locked, is the manifest of an earlier run that is not resumed, prepare a new
 * output: fail if one of its processes still runs, and remove their journals. A record of a
 * complete output is only emptied. *is_shared: o->log is a manifest, and is resumed. */
fbp_status fbp_shared_output_yield(struct fbp_output *o, bool *is_shared);

/**
 * Join a shared output as its first process, or resume alone an output that several processes
 * began. o->log is locked. If a run of a single process is resumed, its journal becomes the
 * manifest.
 *
 * share  slices of this process; NULL: all
 * alone  the journal is of an earlier run of a single process
 */
fbp_status fbp_shared_output_take_over(struct fbp_output *o, const struct fbp_sink_share *share,
                                       bool alone);

/* shared_journal.c: boundary blocks, the blocks of PATH.part with slices of several processes */

/** Find the runs of consecutive slices z with mine[z] = 1, the slices of one process; n: number of
 * all slices. */
fbp_status fbp_boundary_runs(const unsigned char *mine, size_t n, struct fbp_boundary *out);
void fbp_boundary_clear(struct fbp_boundary *boundary);

/** Store bytes of slices of this process, whose position is byte `at` of the unfinished output, in
 * PATH.part or in the process's file of boundary blocks. */
fbp_status fbp_boundary_put(void *output, uint64_t at, const void *data, size_t n);

/** Read bytes [at, at + n) of the unfinished output from PATH.part, or from the boundary file of
 * the process that wrote them. */
fbp_status fbp_boundary_get(struct fbp_output *o, const struct fbp_boundary *boundary, uint64_t at,
                            void *out, size_t n);

/** Copy those bytes of slices [z0, z0 + nz) that a process stored in its boundary file to
 * PATH.part, the unfinished output. scratch: buffer of FBP_WRITE_BUFFER_BYTES. */
fbp_status fbp_boundary_copy(struct fbp_output *o, const struct fbp_boundary *boundary, size_t z0,
                             size_t nz, void *scratch);

/* shared_journal.c: journals */

/** Journal and boundary file of one of the processes that write an output; it may have ended. */
struct fbp_peer {
    char *path; /**< path of the journal */
    size_t part, n_parts;
    char who[128]; /**< "process 123 on HOST" */
    bool alive;
    struct fbp_boundary boundary;
    char *text;         /**< text of the journal, malloc'ed */
    const char *lines;  /**< first line in `text` that lists stored slices */
    const char *synced; /**< end of the lines in `text` whose slices are synced to disk */
};

/** A journal line that lists slices. */
struct fbp_peer_line {
    size_t z0, nz;
    uint64_t hash;
    bool synced;
};

/** Create and lock the journal of this process, and create the file for its boundary blocks. */
fbp_status fbp_peers_begin_journal(struct fbp_output *o);

/** Iterator over the journals of all processes that write an output. Before the first call, set
 * .output, .own and .manifest, and the status to FBP_OK. */
struct fbp_peers {
    struct fbp_output *output;
    bool own;      /**< also return the journal of this sink */
    bool manifest; /**< also return the manifest, as the journal of part 0 */
    bool begun;
    DIR *dir;
    struct fbp_peer peer; /**< journal that the iterator returned last */
    const char *at;       /**< next line of that journal */
};

/** Go to the next journal; false: no more journals, or *st is an error. The loop body may set *st
 * to end the loop. Loop until the function returns false, which frees the iterator. */
bool fbp_peers_next(struct fbp_peers *peers, fbp_status *st);

/** Get the next line that lists stored slices, from the journals of all processes; false: no more
 * lines, or *st is an error. */
bool fbp_peers_next_line(struct fbp_peers *peers, struct fbp_peer_line *line, fbp_status *st);

/** Get the next line of one journal that lists stored slices. *at: position in its text, initially
 * peer->lines; false: no more lines. Lines are skipped if the process's boundary file lacks bytes
 * of the slices, which are then computed again. */
bool fbp_peer_next(struct fbp_output *o, const struct fbp_peer *peer, const char **at,
                   struct fbp_peer_line *out);

/** Create and remove a file beside a journal: a network file system then lists the folder anew.
 * Otherwise two processes that end at the same time could miss each other's journals. */
void fbp_peers_refresh(const char *journal);

/** Remove the journal of a process and its boundary file; returns 0, or an errno. */
int fbp_peer_remove_journal(const char *journal);

#endif /* FBP_SRC_ARRAY_SHARED_OUTPUT_H */
