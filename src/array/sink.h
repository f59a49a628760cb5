/** @file sink.h  The inside of sinks (internal).
 *
 * A sink stores the slices of a volume, in any order, by several threads.  sink.c opens, writes,
 * finishes and closes all of them.  Each kind has a file: caller.c writes to memory
 * and functions of the calling program, sink_stack.c a file per slice, chunked.c a folder of
 * chunks; shared_output.c lets several processes write one output.
 *
 * sink_files.c keeps the files beside an output PATH until it is complete:
 *
 * PATH.part: the samples, a file or a folder of chunks.  In a stack, each slice has its NAME.part.
 *
 * PATH.part.log: journal and lock.  The first line describes the output.  Each other line, "z0 nz
 * hash", is appended when slices [z0, z0 + nz) are stored.  A run that resumes reads the samples
 * again and compares their hash, so that nothing needs to reach the disk in any order.  A line
 * "publish" says that all slices of a stack are on disk and get their names.
 */
#ifndef FBP_SRC_ARRAY_SINK_H
#define FBP_SRC_ARRAY_SINK_H

#include "array/array.h"
#include "array/file/format.h"

#include <pthread.h>
#include <sys/stat.h>
#include <sys/types.h>

enum fbp_sink_kind {
    FBP_SINK_NULL,
    FBP_SINK_HASH,
    FBP_SINK_FILE,  /**< a file, or a folder of chunks */
    FBP_SINK_STACK, /**< a file per slice */
    FBP_SINK_CALLER /**< memory or a function of the caller */
};

/** Functions of a sink of kind FBP_SINK_CALLER. */
struct fbp_sink_calls {
    fbp_status (*write)(struct fbp_sink *s, size_t z0, size_t nz, const void *data);
    fbp_status (*finish)(struct fbp_sink *s); /**< NULL: nothing to do */
    void (*close)(struct fbp_sink *s);
};

struct fbp_sink {
    enum fbp_sink_kind kind;
    struct fbp_array_info info;
    size_t slice_bytes;   /**< as stored */
    pthread_mutex_t lock; /**< of `have`, `n_have` and `clipped` */
    unsigned char *have;  /**< 1 for each slice that is written */
    size_t n_have;
    uint64_t clipped; /**< values beyond the range of info.type */
    pid_t process;    /**< that opened it */
    bool finished;
    char *note; /**< a failure that does no harm to the output, as a sentence; NULL: none */

    uint64_t *hash; /**< of each slice; HASH only */

    const struct fbp_sink_calls *calls; /**< CALLER only, as the next three; NULL: other kinds */
    void *memory;                       /**< of the caller; NULL: functions */
    struct fbp_device_memory *far;      /**< access to `memory` on a device; NULL: the host's */
    void *state;                        /**< of functions (caller.c) */

    /* All below: FILE and STACK only. */
    uint64_t fingerprint; /**< of everything that the samples depend on; 0: not resumable */
    bool compress;        /**< the samples are compressed when all are there */
    bool passing;         /**< read again and then removed: it need not reach a disk */
    bool owned;           /**< the temporary files may be kept or removed by this sink */
    bool log_made;        /**< the journal may be removed */
    bool lock_made;       /**< and the second lock */
    bool published;       /**< the output has its name; later errors become `note` */
    char *path, *part, *log;
    char *lock_path; /**< journal of another name by which the same files could be written: of
                          samples beside their header, of a pattern without padding; NULL: none */
    int fd;          /**< of PATH.part; -1 */
    int log_fd, lock_fd;
    size_t part_offset;                   /**< of the samples in PATH.part */
    const struct fbp_sink_format *format; /**< FILE only */
    const void *context;                  /**< of format->layout_with(), while it is opened */
    struct fbp_layout layout;             /**< FILE only */
    const struct fbp_format *slices;      /**< STACK only, as the next three */
    struct fbp_pattern pattern;           /**< of `path`; suffix NULL: a single file */
    char *folder;
    bool made_folder;
    struct fbp_chunked *chunked; /**< a folder of chunks (array/chunked.h); NULL */
    struct fbp_shared_output
        *shared; /**< several processes write it (array/shared_output.h); NULL */
};

/**
 * fbp_sink_open() of a file that holds more than the array; `path` names only the file.  `format`
 * must outlive the sink, `context` is passed to its layout_with() during this call.
 */
fbp_status fbp_sink_open_as(fbp_sink **out, const char *path, const struct fbp_array_info *info,
                            const struct fbp_sink_params *params,
                            const struct fbp_sink_format *format, const void *context);

/** Bytes of a slice as fbp_sink_write() gets it: doubles for FBP_F64, else floats. */
static inline size_t fbp_sink_given_bytes(const struct fbp_sink *s)
{
    const size_t size = s->info.type == FBP_F64 ? sizeof(double) : sizeof(float);

    return s->info.n[0] * s->info.n[1] * size;
}

/** Mark slices [z0, z0 + nz) as written; `clipped` of their values were clipped. */
void fbp_sink_mark(struct fbp_sink *s, size_t z0, size_t nz);
void fbp_sink_mark_clipped(struct fbp_sink *s, size_t z0, size_t nz, uint64_t clipped);

/** Turn a failure after publication into s->note, and FBP_OK. */
fbp_status fbp_sink_excuse(struct fbp_sink *s, fbp_status st);

/* --- Files that fbp may use (sink_files.c) ---
 *
 * In a folder that others can write to, a name such as v.mha.part may be anybody's: a file that is
 * read, a link to one, a pipe.  A file is created only if there is none.  An existing one is taken
 * over only beside a journal of fbp, if it is a regular file with a single name. */

/** The files that are read, by device and inode. */
struct fbp_part_inputs {
    const struct fbp_sink_params *params; /**< their names */
    struct stat *is;
    size_t n, room;
};

/** Find them; free out->is, also after an error. */
fbp_status fbp_part_inputs_open(struct fbp_part_inputs *out, const struct fbp_sink_params *params);

/** FBP_ERR_INVALID if this temporary file of an output is one of the files that are read. */
fbp_status fbp_part_spare(const struct fbp_part_inputs *inputs, const char *path);

/** First bytes of a journal that is only a lock, and of the manifest of a shared output. */
#define FBP_PART_LOCK     "fbp-journal 2 lock "
#define FBP_PART_MANIFEST "fbp-journal 3 "

/**
 * Open and lock the journal of an output, or the manifest of a shared one.
 *
 * create  if it does not exist; else *fd is -1 then
 * wait    ten minutes at most, for processes that share the output and lock its manifest for
 *         moments; else a locked file is an error
 * left    an earlier run left it; else it is new, empty, or only a lock
 * made    it can be removed: it is new, or says nothing about temporary files
 * @return FBP_ERR_IO if another process holds it, FBP_ERR_INVALID if the file is no journal
 */
fbp_status fbp_part_lock(const struct fbp_part_inputs *inputs, const char *path, bool create,
                         bool wait, int *fd, bool *left, bool *made);

/** Whether `path` still names an open file. */
fbp_status fbp_part_find_named(int fd, const char *path, bool *named);

/** Remove a file if it is `ours` or empty; another one is refused. */
fbp_status fbp_part_clear(const struct fbp_part_inputs *inputs, const char *path, bool ours);

/** Create for reading and writing; an existing file is refused. */
fbp_status fbp_part_create(const char *path, int *fd);

/** Open a file that an earlier run left; *fd -1: it does not exist. */
fbp_status fbp_part_reopen(const struct fbp_part_inputs *inputs, const char *path, int *fd);

/** "PATH: is there and was not left by fbp (WHY)": FBP_ERR_INVALID. */
fbp_status fbp_part_refuse(const char *path, const char *why);

/** "PATH: cannot WHAT: …", by errno, with the remedy: FBP_ERR_IO. */
fbp_status fbp_part_cannot(const char *what, const char *path);

fbp_status fbp_part_rename(const char *from, const char *to);

/** malloc'ed name; FBP_ERR_NOMEM. */
fbp_status fbp_part_name(char **out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* --- PATH.part and its journal (sink_files.c) --- */

/** Replace *path, if it is a link, by the file that it leads to, whose name must end in one of
 *  `extensions`. */
fbp_status fbp_sink_follow_link(char **path, const char *extensions);

/** Lock an output whose files are named, and open its temporary files.  If it resumes, slices that
 *  are stored are marked. */
fbp_status fbp_sink_files_open(struct fbp_sink *s, const struct fbp_sink_params *params);

/** Lock s->lock_path, if it is set. */
fbp_status fbp_sink_lock_second(struct fbp_sink *s, const struct fbp_part_inputs *inputs);
void fbp_sink_unlock_second(struct fbp_sink *s);

/** Write or read bytes [at, at + n) of PATH.part; of chunks, bytes of level 0. */
fbp_status fbp_sink_put(const struct fbp_sink *s, uint64_t at, const void *data, size_t n);
fbp_status fbp_sink_get(const struct fbp_sink *s, uint64_t at, void *out, size_t n);

/** Bring PATH.part to disk. */
fbp_status fbp_sink_sync(const struct fbp_sink *s);

/** Bytes of the complete PATH.part. */
uint64_t fbp_sink_part_bytes(const struct fbp_sink *s);

/** Create PATH.part; open an existing one (s->fd -1: it does not exist); remove it if it is `ours`
 *  or empty; remove it at the end (false: it still exists). */
fbp_status fbp_sink_part_create(struct fbp_sink *s);
fbp_status fbp_sink_part_reopen(struct fbp_sink *s, const struct fbp_part_inputs *inputs);
fbp_status fbp_sink_part_clear(struct fbp_sink *s, const struct fbp_part_inputs *inputs, bool ours);
bool fbp_sink_part_remove(const struct fbp_sink *s);

/** Remove all temporary files of a single file, but not the journal, if they are `ours` or empty.
 *  samples: also PATH.part. */
fbp_status fbp_sink_file_clear(struct fbp_sink *s, const struct fbp_part_inputs *inputs, bool ours,
                               bool samples);
/** Remove PATH.part and its journal. */
void fbp_sink_file_remove(const struct fbp_sink *s);

/** Reserve disk space for all of PATH.part, so that a full disk is reported before anything is
 *  computed. */
fbp_status fbp_sink_reserve(struct fbp_sink *s);

/** Write the header of the format to PATH.part. */
fbp_status fbp_sink_write_header(const struct fbp_sink *s);

/** Publish a complete output: compress, sync, rename, remove the journal. */
fbp_status fbp_sink_publish(struct fbp_sink *s);

/** Sync and rename an output that is not compressed; the journal stays. */
fbp_status fbp_sink_publish_names(struct fbp_sink *s);

/** The first line of a journal. */
enum { FBP_JOURNAL_LINE = 160, FBP_JOURNAL_MOST_BYTES = 1 << 28 };
void fbp_journal_first(const struct fbp_sink *s, char line[FBP_JOURNAL_LINE]);

/** Empty the journal, and begin it. */
fbp_status fbp_journal_create(struct fbp_sink *s);

/** Whether the journal is that of this output; FBP_ERR_INVALID if it is that of other settings. */
fbp_status fbp_journal_find(const struct fbp_sink *s, bool *found);

/** Append a line for slices [z0, z0 + nz), with the hash of their stored bytes. */
fbp_status fbp_journal_append(const struct fbp_sink *s, size_t z0, size_t nz, uint64_t hash);

/** Parse such a line; false: it is none, or names slices that do not exist. */
bool fbp_journal_read(const struct fbp_sink *s, const char *line, size_t *z0, size_t *nz,
                      uint64_t *hash);

/** Hash slices [z0, z0 + nz) of PATH.part; of a shared output as the process stored them whose
 *  boundary blocks these are (NULL: none).  scratch: FBP_WRITE_BUFFER_BYTES. */
struct fbp_boundary;
fbp_status fbp_sink_hash_slices(const struct fbp_sink *s, const struct fbp_boundary *boundary,
                                size_t z0, size_t nz, void *scratch, uint64_t *hash);

/** Whether slices [z0, z0 + nz) are stored with this hash; of a stack nz is 1.  scratch:
 *  FBP_WRITE_BUFFER_BYTES. */
bool fbp_sink_is_stored(const struct fbp_sink *s, const struct fbp_boundary *boundary, size_t z0,
                        size_t nz, uint64_t hash, void *scratch);

/** Mark the slices of all lines of the journal that are stored. */
fbp_status fbp_journal_resume(struct fbp_sink *s);

/* --- Stacks: a file per slice (sink_stack.c) --- */

fbp_status fbp_sink_stack_open(struct fbp_sink *s, const char *path,
                               const struct fbp_sink_params *params);
/** Begin or resume a stack whose journal is locked; left: the journal is that of an earlier run. */
fbp_status fbp_sink_stack_begin(struct fbp_sink *s, const struct fbp_part_inputs *inputs, bool left,
                                bool resume);
fbp_status fbp_sink_stack_write(struct fbp_sink *s, size_t z0, size_t nz, const void *data);
fbp_status fbp_sink_stack_publish(struct fbp_sink *s);

/** malloc'ed "out/slice_0007.tif", followed by `end`: ".part" or "". */
fbp_status fbp_sink_stack_name(const struct fbp_sink *s, size_t z, const char *end, char **out);

/** fbp_sink_is_stored() of a stack. */
bool fbp_sink_stack_has(const struct fbp_sink *s, size_t z0, size_t nz, uint64_t hash,
                        void *scratch);

/** Check that no slices of another, larger volume exist. */
fbp_status fbp_sink_stack_check_others(const struct fbp_sink *s);

/** Check that the disk of an open file has space for all slices. */
fbp_status fbp_sink_stack_check_room(const struct fbp_sink *s, int fd);

/** Remove temporary slices of any volume of this name, if they are `ours`, or empty. */
fbp_status fbp_sink_stack_clear(const struct fbp_sink *s, const struct fbp_part_inputs *inputs,
                                bool ours);

/** Remove temporary slices that this process still has to write. */
fbp_status fbp_sink_stack_clear_missing(const struct fbp_sink *s,
                                        const struct fbp_part_inputs *inputs);

/** Remove all temporary slices of this volume. */
void fbp_sink_stack_remove(const struct fbp_sink *s);

/** Rename the first n slices to their names, which they may have already; *gone: some do not
 *  exist. */
fbp_status fbp_sink_stack_rename(const struct fbp_sink *s, size_t n, bool *gone);

#endif /* FBP_SRC_ARRAY_SINK_H */
