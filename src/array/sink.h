/** @file sink.h  Implementation of sinks: the struct, and the functions that its parts share
 * (internal).
 *
 * A sink stores the slices of a volume, in any order, from several threads. sink.c opens, writes,
 * finishes and closes all sinks. Each kind has a file: caller.c writes to memory and functions of
 * the calling program, sink_stack.c one file per slice, chunked.c a folder of chunks;
 * shared_output.c lets several processes write one output.
 *
 * sink_files.c manages the files beside an output PATH until it is complete:
 *
 * PATH.part: the samples, a file or a folder of chunks. In a stack, each slice has its NAME.part.
 *
 * PATH.part.log: journal and lock. The first line describes the output. Each other line, "z0 nz
 * hash", is appended when slices [z0, z0 + nz) are stored. A run that resumes reads the samples
 * again and compares their hash; therefore no order of writes to the disk is required. A line
 * "publish" states that all slices of a stack are on disk and are being renamed.
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
    FBP_SINK_STACK, /**< one file per slice */
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
    size_t slice_bytes;   /**< bytes of a stored slice */
    pthread_mutex_t lock; /**< protects `have`, `n_have` and `clipped` */
    unsigned char *have;  /**< [info.n[2]] 1: the slice is written */
    size_t n_have;
    uint64_t clipped; /**< number of values outside the range of info.type */
    pid_t process;    /**< process that opened the sink */
    bool finished;
    char *note; /**< message about a failure that does not affect the output; NULL: none */

    uint64_t *hash; /**< HASH only: hash of each slice */

    const struct fbp_sink_calls *calls; /**< CALLER only, like the next three; NULL: other kinds */
    void *memory;                       /**< memory of the caller; NULL: functions */
    struct fbp_device_memory *far;      /**< access to `memory` on a device; NULL: host memory */
    void *state;                        /**< state of the functions (caller.c) */

    /* All members below: FILE and STACK only. */
    uint64_t fingerprint; /**< hash of all settings that the samples depend on; 0: not resumable */
    bool compress;        /**< the samples are compressed when all are written */
    bool passing; /**< temporary file that is read back and removed: no sync to disk is necessary */
    bool owned;   /**< this sink may keep or remove the temporary files */
    bool log_made;  /**< this sink may remove the journal */
    bool lock_made; /**< this sink may remove the second lock */
    bool published; /**< the output has its final name; later errors go to `note` */
    char *path, *part, *log;
    /** Journal of another name under which the same files could be written: the data file of a
     *  separate header, a pattern without padding; NULL: none. */
    char *lock_path;
    int fd; /**< descriptor of PATH.part; -1: not open */
    int log_fd, lock_fd;
    size_t part_offset;                   /**< byte of the first sample in PATH.part */
    const struct fbp_sink_format *format; /**< FILE only */
    const void *context;                  /**< argument of format->layout_with() during opening */
    struct fbp_layout layout;             /**< FILE only */
    const struct fbp_format *slices;      /**< STACK only, like the next three members */
    struct fbp_pattern pattern;           /**< pattern of `path`; suffix NULL: a single file */
    char *folder;
    bool made_folder;
    struct fbp_chunked *chunked; /**< a folder of chunks (array/chunked.h); NULL */
    struct fbp_shared_output
        /** State of an output that several processes write (array/shared_output.h); NULL: one
         *  process. */
        *shared;
};

/**
 * fbp_sink_open() for a file that contains more than the array; `path` names only the file.
 * `format` must outlive the sink; `context` is passed to its layout_with() during this call.
 */
fbp_status fbp_sink_open_as(fbp_sink **out, const char *path, const struct fbp_array_info *info,
                            const struct fbp_sink_params *params,
                            const struct fbp_sink_format *format, const void *context);

/** Bytes of a slice in the memory passed to fbp_sink_write(): double for FBP_F64, else float. */
static inline size_t fbp_sink_given_bytes(const struct fbp_sink *s)
{
    const size_t size = s->info.type == FBP_F64 ? sizeof(double) : sizeof(float);

    return s->info.n[0] * s->info.n[1] * size;
}

/** Record slices [z0, z0 + nz) as written; `clipped`: number of their values that were clipped. */
void fbp_sink_mark(struct fbp_sink *s, size_t z0, size_t nz);
void fbp_sink_mark_clipped(struct fbp_sink *s, size_t z0, size_t nz, uint64_t clipped);

/** After publication, move the message of a failure to s->note and return FBP_OK. */
fbp_status fbp_sink_excuse(struct fbp_sink *s, fbp_status st);

/*
 * sink_files.c: safe handling of temporary files
 *
 * In a folder that other users can write to, a name such as v.mha.part may be any file: an input, a
 * link to one, a pipe. A file is created only if none exists. An existing file is reused only
 * beside a journal of fbp, and only if it is a regular file with a single name.
 */

/** Files that are read, identified by device and inode. */
struct fbp_part_inputs {
    const struct fbp_sink_params *params; /**< names of the files */
    struct stat *is;
    size_t n, room;
};

/** Find the files; the caller frees out->is, also after an error. */
fbp_status fbp_part_inputs_open(struct fbp_part_inputs *out, const struct fbp_sink_params *params);

/** FBP_ERR_INVALID if this temporary file of an output is one of the files that are read. */
fbp_status fbp_part_spare(const struct fbp_part_inputs *inputs, const char *path);

/** First bytes of a journal that is only a lock, and of the manifest of a shared output. */
#define FBP_PART_LOCK     "fbp-journal 2 lock "
#define FBP_PART_MANIFEST "fbp-journal 3 "

/**
 * Open and lock the journal of an output, or the manifest of a shared one.
 *
 * create  create a missing file; otherwise *fd is -1 for a missing file
 * wait    wait up to ten minutes for a lock, because processes that share an output lock its
 *         manifest for short times; otherwise a locked file is an error
 * left    *left: an earlier run wrote the journal; false: it is new, empty, or only a lock
 * made    *made: the file may be removed, because it is new or describes no temporary files
 * @return FBP_ERR_IO if another process holds the lock, FBP_ERR_INVALID if the file is not a
 *         journal
 */
fbp_status fbp_part_lock(const struct fbp_part_inputs *inputs, const char *path, bool create,
                         bool wait, int *fd, bool *left, bool *made);

/** Whether `path` is still the name of the open file fd. */
fbp_status fbp_part_find_named(int fd, const char *path, bool *named);

/** Remove a file if it is `ours` or empty; refuse any other file. */
fbp_status fbp_part_clear(const struct fbp_part_inputs *inputs, const char *path, bool ours);

/** Create a file for reading and writing; refuse an existing file. */
fbp_status fbp_part_create(const char *path, int *fd);

/** Open a file of an earlier run; *fd -1: it does not exist. */
fbp_status fbp_part_reopen(const struct fbp_part_inputs *inputs, const char *path, int *fd);

/** Fail with "PATH: is there and was not left by fbp (WHY)": FBP_ERR_INVALID. */
fbp_status fbp_part_refuse(const char *path, const char *why);

/** Fail with "PATH: cannot WHAT: …" by errno, with the remedy: FBP_ERR_IO. */
fbp_status fbp_part_cannot(const char *what, const char *path);

fbp_status fbp_part_rename(const char *from, const char *to);

/** malloc'ed name; FBP_ERR_NOMEM. */
fbp_status fbp_part_name(char **out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* sink_files.c: PATH.part and its journal */

/** If *path is a link, replace it by the link's target, whose name must end in one of
 *  `extensions`. */
fbp_status fbp_sink_follow_link(char **path, const char *extensions);

/** Lock an output whose file names are set, and open its temporary files. On resumption, mark the
 *  stored slices. */
fbp_status fbp_sink_files_open(struct fbp_sink *s, const struct fbp_sink_params *params);

/** Lock s->lock_path, if it is set. */
fbp_status fbp_sink_lock_second(struct fbp_sink *s, const struct fbp_part_inputs *inputs);
void fbp_sink_unlock_second(struct fbp_sink *s);

/** Write or read bytes [at, at + n) of PATH.part; for chunks, bytes of level 0. */
fbp_status fbp_sink_put(const struct fbp_sink *s, uint64_t at, const void *data, size_t n);
fbp_status fbp_sink_get(const struct fbp_sink *s, uint64_t at, void *out, size_t n);

/** Sync PATH.part to disk. */
fbp_status fbp_sink_sync(const struct fbp_sink *s);

/** Size of the complete PATH.part [bytes]. */
uint64_t fbp_sink_part_bytes(const struct fbp_sink *s);

/** Create PATH.part; open an existing one (s->fd -1: it does not exist); remove it if it is `ours`
 *  or empty; remove it at the end (false: it still exists). */
fbp_status fbp_sink_part_create(struct fbp_sink *s);
fbp_status fbp_sink_part_reopen(struct fbp_sink *s, const struct fbp_part_inputs *inputs);
fbp_status fbp_sink_part_clear(struct fbp_sink *s, const struct fbp_part_inputs *inputs, bool ours);
bool fbp_sink_part_remove(const struct fbp_sink *s);

/** Remove all temporary files of a single-file output except the journal, if they are `ours` or
 *  empty. samples: include PATH.part. */
fbp_status fbp_sink_file_clear(struct fbp_sink *s, const struct fbp_part_inputs *inputs, bool ours,
                               bool samples);
/** Remove PATH.part and its journal. */
void fbp_sink_file_remove(const struct fbp_sink *s);

/** Reserve disk space for the whole PATH.part. A full disk is thus reported before any
 *  computation. */
fbp_status fbp_sink_reserve(struct fbp_sink *s);

/** Write the header of the format to PATH.part. */
fbp_status fbp_sink_write_header(const struct fbp_sink *s);

/** Publish a complete output: compress, sync, rename, remove the journal. */
fbp_status fbp_sink_publish(struct fbp_sink *s);

/** Sync and rename an output that is not compressed; the journal is kept. */
fbp_status fbp_sink_publish_names(struct fbp_sink *s);

/** The first line of a journal. */
enum { FBP_JOURNAL_LINE = 160, FBP_JOURNAL_MOST_BYTES = 1 << 28 };
void fbp_journal_first(const struct fbp_sink *s, char line[FBP_JOURNAL_LINE]);

/** Empty the journal, and write its first line. */
fbp_status fbp_journal_create(struct fbp_sink *s);

/** Whether the journal belongs to this output; FBP_ERR_INVALID if it belongs to other settings. */
fbp_status fbp_journal_find(const struct fbp_sink *s, bool *found);

/** Append a line for slices [z0, z0 + nz) with the hash of their stored bytes. */
fbp_status fbp_journal_append(const struct fbp_sink *s, size_t z0, size_t nz, uint64_t hash);

/** Parse such a line; false: not such a line, or slices that do not exist. */
bool fbp_journal_read(const struct fbp_sink *s, const char *line, size_t *z0, size_t *nz,
                      uint64_t *hash);

/** Hash slices [z0, z0 + nz) of PATH.part. For a shared output, boundary blocks are read from the
 *  process that owns `boundary` (NULL: none). scratch: FBP_WRITE_BUFFER_BYTES. */
struct fbp_boundary;
fbp_status fbp_sink_hash_slices(const struct fbp_sink *s, const struct fbp_boundary *boundary,
                                size_t z0, size_t nz, void *scratch, uint64_t *hash);

/** Whether slices [z0, z0 + nz) are stored with this hash; nz is 1 for a stack. scratch:
 *  FBP_WRITE_BUFFER_BYTES. */
bool fbp_sink_is_stored(const struct fbp_sink *s, const struct fbp_boundary *boundary, size_t z0,
                        size_t nz, uint64_t hash, void *scratch);

/** Mark the slices of all journal lines whose samples are stored. */
fbp_status fbp_journal_resume(struct fbp_sink *s);

/* sink_stack.c: stacks, one file per slice */

fbp_status fbp_sink_stack_open(struct fbp_sink *s, const char *path,
                               const struct fbp_sink_params *params);
/** Begin or resume a stack whose journal is locked; left: an earlier run wrote the journal. */
fbp_status fbp_sink_stack_begin(struct fbp_sink *s, const struct fbp_part_inputs *inputs, bool left,
                                bool resume);
fbp_status fbp_sink_stack_write(struct fbp_sink *s, size_t z0, size_t nz, const void *data);
fbp_status fbp_sink_stack_publish(struct fbp_sink *s);

/** malloc'ed "out/slice_0007.tif" plus the suffix `end`: ".part" or "". */
fbp_status fbp_sink_stack_name(const struct fbp_sink *s, size_t z, const char *end, char **out);

/** fbp_sink_is_stored() for a stack. */
bool fbp_sink_stack_has(const struct fbp_sink *s, size_t z0, size_t nz, uint64_t hash,
                        void *scratch);

/** Check that no slices of another, larger volume exist under this name. */
fbp_status fbp_sink_stack_check_others(const struct fbp_sink *s);

/** Check that the disk of an open file has space for all slices. */
fbp_status fbp_sink_stack_check_room(const struct fbp_sink *s, int fd);

/** Remove temporary slices of any volume of this name, if they are `ours` or empty. */
fbp_status fbp_sink_stack_clear(const struct fbp_sink *s, const struct fbp_part_inputs *inputs,
                                bool ours);

/** Remove temporary slices that this process has still to write. */
fbp_status fbp_sink_stack_clear_missing(const struct fbp_sink *s,
                                        const struct fbp_part_inputs *inputs);

/** Remove all temporary slices of this volume. */
void fbp_sink_stack_remove(const struct fbp_sink *s);

/** Rename the first n slices to their final names; some may be renamed already. *gone: some slices
 *  do not exist. */
fbp_status fbp_sink_stack_rename(const struct fbp_sink *s, size_t n, bool *gone);

#endif /* FBP_SRC_ARRAY_SINK_H */
