/** @file joint.h  An output that several processes write, each its own slices (internal).
 *
 * Beside the output PATH there are, until it is complete:
 *
 * PATH.part: the samples, at their places (of a stack: a file a slice).  Whoever comes first
 * creates and reserves it, the others open it.
 *
 * PATH.part.log: the head: what output it is.  Its lock is held while a process joins, and while
 * one publishes, never while slices are computed.
 *
 * PATH.part.log.3of16.1a2b3c4d: the journal of one process, which alone writes it and locks it as
 * long as it lives.
 *
 * The same, .edges: its bytes of pages that it shares with others.
 *
 * No two processes write to one page of PATH.part (to one stripe, where the file system tells a
 * larger block): where the slices of a process begin or end within one, these bytes go to its file
 * of edges.  Whoever finds all slices there writes the header and the edges of all into PATH.part
 * and renames it.
 *
 * A line of a journal counts for others when "synced" follows, which is written when the samples
 * are on the disk.  What a process that ended has noted without that is read and compared by who
 * has these slices next.
 */
#ifndef FBP_SRC_JOINT_H
#define FBP_SRC_JOINT_H

#include "array/sink.h"

/** Ends the name of a file that is created to change a folder, beside a journal. */
#define FBP_JOINT_LOOK ".look"
enum { FBP_JOINT_MAX_HEAD = 1 << 28 };

/** Slices [z0, z0 + nz). */
struct fbp_joint_run {
    size_t z0, nz;
};

/** The slices of a process, and where their bytes are. */
struct fbp_joint_edges {
    struct fbp_joint_run *runs; /**< that do not touch */
    size_t n_runs;
    uint64_t stripe; /**< bytes that one process writes to */
    char *path;
    int fd; /**< -1: there is no such file, as of a stack */
};

/** What a stack, a file a slice, has of its own. */
struct fbp_joint_kind {
    /** No slices of another, larger volume are there. */
    fbp_status (*check)(const struct fbp_sink *s);
    /** Remove temporary slices of any volume of this name, which must be `ours`, or empty. */
    fbp_status (*clear)(const struct fbp_sink *s, const struct fbp_part_inputs *inputs, bool ours);
    /** Is there room for all of it, on the disk of an open file? */
    fbp_status (*room)(const struct fbp_sink *s, int fd);
    /** Remove temporary slices that are still to be written here. */
    fbp_status (*clear_missing)(const struct fbp_sink *s, const struct fbp_part_inputs *inputs);
    /** Remove all temporary slices of this volume. */
    void (*remove)(const struct fbp_sink *s);
    fbp_run_there_fn *has; /**< is the file of a slice there, whole? */
    /** Give all slices their names; *gone: some are nowhere. */
    fbp_status (*names)(const struct fbp_sink *s, bool *gone);
};

struct fbp_joint {
    const struct fbp_joint_kind *stack; /**< NULL: a single file, or none */
    struct fbp_sink_joint own;          /**< without `mine` */
    unsigned char *mine;                /**< 1 a slice that this process writes */
    char *head;                         /**< its name; NULL: no files */
    struct fbp_joint_edges edges;
    uint64_t begin; /**< of the journal's first line of slices */
    bool joined;    /**< the head is that of this output */
    bool complete;  /**< all slices are there, under their names */
};

/** s->joint, of a sink whose sizes and fingerprint are set; no file is opened. */
fbp_status fbp_joint_create(struct fbp_sink *s, const char *path,
                            const struct fbp_sink_joint *given);
void fbp_joint_destroy(struct fbp_joint **joint);

/* --- edges (joint_edges.c) --- */

/** The runs of mine[n]. */
fbp_status fbp_joint_runs(const unsigned char *mine, size_t n, struct fbp_joint_edges *out);
void fbp_joint_edges_clear(struct fbp_joint_edges *edges);
/** Is any of these slices this process's? */
bool fbp_joint_is_mine(const struct fbp_sink *s, size_t z0, size_t nz);

/** Bytes to where they belong, for a piece, too: `sink` is a struct fbp_sink. */
fbp_status fbp_joint_put(void *sink, uint64_t at, const void *data, size_t n);

/** Bytes [at, at + n) as the process wrote them whose edges these are. */
fbp_status fbp_joint_get(const struct fbp_sink *s, const struct fbp_joint_edges *edges, uint64_t at,
                         void *out, size_t n);

/** Is the first byte of a slice in the file of edges, not in PATH.part? */
bool fbp_joint_is_apart(const struct fbp_sink *s, const struct fbp_joint_edges *edges, size_t z);

/** Is the file of edges there, as long as these slices need it? */
bool fbp_joint_has_edges(const struct fbp_sink *s, const struct fbp_joint_edges *edges, size_t z0,
                         size_t nz);

/** Of slices [z0, z0 + nz) those bytes that are in the file of edges into PATH.part.  scratch:
 *  FBP_PIECE_BYTES. */
fbp_status fbp_joint_copy_edges(const struct fbp_sink *s, const struct fbp_joint_edges *edges,
                                size_t z0, size_t nz, void *scratch);

/* --- journals (joint_journal.c) --- */

/** Another process of this output, or what it left. */
struct fbp_joint_peer {
    char *path; /**< of its journal */
    size_t part, n_parts;
    char who[128]; /**< "process 123 on HOST" */
    bool alive;
    struct fbp_joint_edges edges;
    char *text;         /**< of the journal */
    const char *lines;  /**< of slices */
    const char *synced; /**< those before are on the disk */
};

struct fbp_joint_line {
    size_t z0, nz;
    uint64_t hash;
    bool synced;
};

/** Create, lock and begin the journal of this process, and its file of edges. */
fbp_status fbp_joint_begin(struct fbp_sink *s);

/** What is called for each journal beside the head, the sink's own only if that is asked for. */
typedef fbp_status fbp_joint_peer_fn(struct fbp_sink *s, struct fbp_joint_peer *peer, void *user);
fbp_status fbp_joint_each(struct fbp_sink *s, bool own, fbp_joint_peer_fn *fn, void *user);

/** The next line of slices, from *at, which begins as peer->lines; false: there is none.  A line
 *  whose edges were lost or cut off says nothing: its slices are computed again. */
bool fbp_joint_next(const struct fbp_sink *s, const struct fbp_joint_peer *peer, const char **at,
                    struct fbp_joint_line *out);

/** For fbp_joint_each(): the slices of a journal that are on the disk are there. */
fbp_status fbp_joint_mark_synced(struct fbp_sink *s, struct fbp_joint_peer *peer, void *user);

/** Where a network's file system remembers what is in a folder, changing it, beside a journal,
 * makes this machine ask again: else two processes that end together could miss each other's
 * journals (joint_token.c). */
void fbp_joint_look_anew(const char *journal);

/** Remove a journal and its file of edges; 0, or the errno. */
int fbp_joint_remove(const char *journal);
/** The same, of an output that is complete: s->note says what is still there. */
void fbp_joint_try_remove(struct fbp_sink *s, const char *journal);

/* --- the head (joint_head.c) --- */

struct fbp_joint_head {
    int fd;        /**< locked */
    bool left;     /**< it was there */
    bool shared;   /**< of several processes */
    bool ours;     /**< of this output, by the same release */
    bool alone;    /**< the same, but of one process */
    bool publish;  /**< all slices were there, and were getting their names */
    bool named;    /**< and have got them */
    bool complete; /**< and have them still */
    bool old;      /**< of an output that was complete, and is another one now */
};

/** What it says, but for `fd` and `left`. */
fbp_status fbp_joint_head_read(const struct fbp_sink *s, struct fbp_joint_head *h);
/** The journal of one process, which is locked, becomes the head of several.  That is one byte: a
 *  kill leaves the one or the other. */
fbp_status fbp_joint_share(int log_fd, const char *log);
/** Is this the output that it speaks of?  Else it is begun, or refused. */
fbp_status fbp_joint_head_take(struct fbp_sink *s, const struct fbp_part_inputs *inputs,
                               const struct fbp_joint_head *h);

fbp_status fbp_joint_refuse_living(const struct fbp_sink *s, const struct fbp_joint_peer *p);
/** For fbp_joint_each(): what ended processes left is of no use. */
fbp_status fbp_joint_drop_peer(struct fbp_sink *s, struct fbp_joint_peer *peer, void *user);

/* --- joining and leaving (joint.c), publishing (joint_seal.c) --- */

/** Open all files; the journals of other processes say which slices are there.  stack: NULL: it is
 *  none. */
fbp_status fbp_joint_join(struct fbp_sink *s, const struct fbp_part_inputs *inputs,
                          const struct fbp_joint_kind *stack);

/** Note in the journal which file samples were put into. */
fbp_status fbp_joint_note_file(const struct fbp_sink *s);
/** PATH.part is this file, or has these samples (joint_file.c). */
fbp_status fbp_joint_check_file(struct fbp_sink *s);

/** Of an output of chunks, those that slices were put into are there (joint_chunks.c). */
fbp_status fbp_joint_check_chunks(struct fbp_sink *s);

/** *whole: slices of a single file are as a line of a journal says.  scratch:
 *  FBP_PIECE_BYTES. */
fbp_status fbp_joint_compare(const struct fbp_sink *s, const struct fbp_joint_peer *p,
                             const struct fbp_joint_line *line, void *scratch, bool *whole);
/** What processes that ended have noted, and nobody knows to be on the disk, is read, compared, and
 *  becomes this one's (joint_salvage.c). */
fbp_status fbp_joint_salvage(struct fbp_sink *s, const struct fbp_part_inputs *inputs);
/** Does the head have slices of one process, whose journal it was? */
bool fbp_joint_is_left_alone(const struct fbp_sink *s);

/** This process has written all its slices: tell the others, or publish if all are there. */
fbp_status fbp_joint_finish(struct fbp_sink *s);

/** Slices that any process has noted, and that stay when this one leaves. */
size_t fbp_joint_kept(struct fbp_sink *s);

/** It has not: keep what others can use. */
void fbp_joint_leave(struct fbp_sink *s);

/** Record that the output is complete, and remove what its processes needed, the head last, whose
 *  lock `fd` has (joint_record.c).  What fails is in s->note. */
void fbp_joint_tidy(struct fbp_sink *s, int fd);

/** Is there a complete output with the record of this one? */
bool fbp_joint_is_recorded(const struct fbp_sink *s);

/** Does the text of a head say that the output is complete, and is that still the one? */
bool fbp_joint_is_complete(const struct fbp_sink *s, const char *head);

/* --- names (joint_named.c) --- */

/** Note in the head, on disk, that all slices are there, and PATH.part or they get their names. */
fbp_status fbp_joint_say_publish(const struct fbp_sink *s, int head);
/** *named: the output of which the text of a head says so has its name. */
fbp_status fbp_joint_find_named(const struct fbp_sink *s, const char *head, bool *named);
/** The first slice of a stack that has neither its name nor a temporary file, or the number of
 *  slices. */
fbp_status fbp_joint_find_lost(struct fbp_sink *s, size_t *lost);
/** Give all slices of a stack their names, and note that in the head. */
fbp_status fbp_joint_name_slices(struct fbp_sink *s, int head);

/* --- what is left, for one process or the first of several (joint_resume.c) --- */

/** The journal that has just been locked: is it the head of several processes? */
bool fbp_joint_is_left(const struct fbp_sink *s);
/** If it is: none of them may live; what they left is removed, unless it is to be resumed. */
fbp_status fbp_joint_yield(struct fbp_sink *s, bool resume);
/**
 * s, whose journal is locked, joins the processes of its output, of which it is the first, or
 * resumes alone what several began.  What one process alone left is resumed, too; its journal
 * becomes the head.
 *
 * left: there was a journal
 */
fbp_status fbp_joint_take_over(struct fbp_sink *s, const struct fbp_part_inputs *inputs, bool left,
                               bool resume, const struct fbp_joint_kind *stack);

#endif /* FBP_SRC_JOINT_H */
