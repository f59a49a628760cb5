/** @file shared_output.h  An output that several processes write, each its own slices (internal).
 *
 * Beside the output PATH there are, until it is complete:
 *
 * PATH.part: the samples, at their places (of a stack: a file per slice).  The first process
 * creates it and reserves its disk space, the others open it.
 *
 * PATH.part.log: the manifest.  Its first line describes the output.  A process locks it while it
 * joins and while it publishes, never while slices are computed.
 *
 * PATH.part.log.3of16.1a2b3c4d: the journal of one process, which alone writes it, and holds its
 * lock until it ends.
 *
 * PATH.part.log.3of16.1a2b3c4d.edges: boundary blocks, the samples of that process in blocks of
 * PATH.part that it shares with others.
 *
 * No two processes write to one block of PATH.part: a page, more where the file system says so, a
 * layer of chunks in OME-Zarr.  Network file systems do not merge such writes.  If slices of a
 * process begin or end within a block, these bytes go to its file of boundary blocks.  The process
 * that finds all slices stored writes the header and all boundary blocks into PATH.part, and
 * renames it.
 *
 * A line of a journal counts for other processes when a line "synced" follows, which is written
 * when the samples are on disk.  Slices that a process noted without "synced" before it ended are
 * recovered: the next owner of these slices reads them and compares their hash.
 *
 * sink.c and sink_files.c call shared_output.c; shared_journal.c has the journals and the boundary
 * blocks.
 */
#ifndef FBP_SRC_ARRAY_SHARED_OUTPUT_H
#define FBP_SRC_ARRAY_SHARED_OUTPUT_H

#include "array/sink.h"

#include <dirent.h>

/** Slices [z0, z0 + nz). */
struct fbp_slice_run {
    size_t z0, nz;
};

/** The slices of a process, and the file of its boundary blocks. */
struct fbp_boundary {
    struct fbp_slice_run *runs; /**< that do not touch */
    size_t n_runs;
    uint64_t block; /**< bytes that only one process writes to */
    char *path;
    int fd; /**< -1: no such file, as of a stack */
};

struct fbp_shared_output {
    struct fbp_sink_share own; /**< without `mine` */
    unsigned char *mine;       /**< 1 for each slice that this process writes */
    char *manifest;            /**< its name; NULL: no files */
    struct fbp_boundary boundary;
    uint64_t begin; /**< place of the journal's first line of slices */
    bool joined;    /**< the manifest is that of this output */
    bool complete;  /**< all slices are stored under their names */
};

/* --- Entry points (shared_output.c) --- */

/** Set s->shared of a sink whose sizes and fingerprint are set; no file is opened. */
fbp_status fbp_shared_output_create(struct fbp_sink *s, const char *path,
                                    const struct fbp_sink_share *given);
void fbp_shared_output_destroy(struct fbp_shared_output **shared);

/** Open all files; the journals of other processes say which slices are stored. */
fbp_status fbp_shared_output_join(struct fbp_sink *s, const struct fbp_part_inputs *inputs);

/** Whether the journal that was just locked is the manifest of a shared output. */
bool fbp_shared_output_is_left(const struct fbp_sink *s);

/** If it is, check that none of its processes runs, and remove what they left, unless it is to be
 *  resumed. */
fbp_status fbp_shared_output_yield(struct fbp_sink *s, bool resume);

/**
 * Join the processes of an output as the first of them, or resume alone what several processes
 * began.  The journal is locked.  Slices that one process alone left are resumed, too; its journal
 * becomes the manifest.
 *
 * left  there was a journal
 */
fbp_status fbp_shared_output_take_over(struct fbp_sink *s, const struct fbp_part_inputs *inputs,
                                       bool left, bool resume);

/** All slices of this process are written: note that, and publish if all others are stored. */
fbp_status fbp_shared_output_finish(struct fbp_sink *s);

/** Slices that any process has noted, and that stay if this one closes the sink now. */
size_t fbp_shared_output_kept(struct fbp_sink *s);

/** Close a sink that may be unfinished: remove files that are of no use to others. */
void fbp_shared_output_leave(struct fbp_sink *s);

/* --- Boundary blocks (shared_journal.c) --- */

/** Fill in the runs of mine[n]. */
fbp_status fbp_boundary_runs(const unsigned char *mine, size_t n, struct fbp_boundary *out);
void fbp_boundary_clear(struct fbp_boundary *boundary);

/** Store bytes of this process at their place. */
fbp_status fbp_boundary_put(const struct fbp_sink *s, uint64_t at, const void *data, size_t n);

/** Read bytes [at, at + n) as the process stored them whose boundary this is. */
fbp_status fbp_boundary_get(const struct fbp_sink *s, const struct fbp_boundary *boundary,
                            uint64_t at, void *out, size_t n);

/** Whether the first byte of a slice is in the boundary file, not in PATH.part. */
bool fbp_boundary_has_start(const struct fbp_sink *s, const struct fbp_boundary *boundary,
                            size_t z);

/** Copy the bytes of slices [z0, z0 + nz) that are in the boundary file to PATH.part.  scratch:
 *  FBP_WRITE_BUFFER_BYTES. */
fbp_status fbp_boundary_copy(const struct fbp_sink *s, const struct fbp_boundary *boundary,
                             size_t z0, size_t nz, void *scratch);

/* --- Journals (shared_journal.c) --- */

/** A process of this output that runs, or the files of one that has ended. */
struct fbp_peer {
    char *path; /**< of its journal */
    size_t part, n_parts;
    char who[128]; /**< "process 123 on HOST" */
    bool alive;
    struct fbp_boundary boundary;
    char *text;         /**< of the journal */
    const char *lines;  /**< the first line of slices */
    const char *synced; /**< lines before this place are on disk */
};

/** A line of slices. */
struct fbp_peer_line {
    size_t z0, nz;
    uint64_t hash;
    bool synced;
};

/** Create, lock and begin the journal of this process, and its boundary file. */
fbp_status fbp_peers_begin_journal(struct fbp_sink *s);

/** A loop over the journals beside the manifest: begin with .sink and .own, and st FBP_OK. */
struct fbp_peers {
    const struct fbp_sink *sink;
    bool own; /**< also the journal of this sink */
    bool begun;
    DIR *dir;
    struct fbp_peer peer; /**< the current one */
    const char *at;       /**< its next line */
};

/** Get the next journal; false: there is none, or *st, which the body of the loop may set, is an
 *  error.  The loop must run until then. */
bool fbp_peers_next(struct fbp_peers *peers, fbp_status *st);

/** The same for all lines of slices of all journals. */
bool fbp_peers_next_line(struct fbp_peers *peers, struct fbp_peer_line *line, fbp_status *st);

/** Get the next line of slices from *at, which begins as peer->lines; false: there is none.  Lines
 *  whose boundary blocks were lost or cut off are skipped: their slices are computed again. */
bool fbp_peer_next(const struct fbp_sink *s, const struct fbp_peer *peer, const char **at,
                   struct fbp_peer_line *out);

/** Create and remove a file beside a journal: a network file system that caches the names in a
 *  folder then reads them again.  Else two processes that end together could miss each other's
 *  journals. */
void fbp_peers_refresh(const char *journal);

/** Remove a journal and its boundary file; 0, or the errno. */
int fbp_peer_remove_journal(const char *journal);

#endif /* FBP_SRC_ARRAY_SHARED_OUTPUT_H */
