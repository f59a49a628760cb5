/** @file sink.h  The interface of sinks, and functions that sinks with files share (internal).
 *
 * A sink is an output: it stores the slices of a volume, in any order, from several threads. Each
 * kind of sink is a table of functions (struct fbp_sink_calls) and a struct that begins with struct
 * fbp_sink. sink.c chooses the table by the name of the output and calls its functions; sinks of
 * sink_caller.c write to memory or functions of the calling program.
 *
 * Sinks with files begin with struct fbp_output: sink_file.c writes one file, sink_stack.c one file
 * per slice, sink_chunks.c a folder of chunks; with shared_output.c, several processes write one of
 * these. A second table, struct fbp_store, stores samples in temporary files.
 * Used by: array/, pipeline/, scan/format/.
 */
#ifndef FBP_SRC_ARRAY_SINK_H
#define FBP_SRC_ARRAY_SINK_H

#include "array/array.h"
#include "array/file/format.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/types.h>

struct fbp_boundary;
struct fbp_device_memory;
struct fbp_output;
struct fbp_shared_output;

/** Arguments with which a sink is opened. */
struct fbp_sink_request {
    const char *path;
    const struct fbp_sink_params *params;
    /** format of the output; NULL: chosen by the output's name */
    const struct fbp_sink_format *format;
    const void *context;                /**< argument of format->layout_with() */
    const struct fbp_sink_share *share; /**< slices that this process writes; NULL: all slices */
};

/** Functions of a kind of sink (file, folder of chunks, memory, …). Unless its comment states
 * otherwise, a function that is NULL does nothing and returns 0. */
struct fbp_sink_calls {
    size_t bytes; /**< size of the struct that this kind of sink allocates */
    /** Adds to *out the memory of an output of n voxels x, y, z, and sets out->layer; limit: memory
     * that the run may use [bytes]. */
    void (*needs)(const size_t n[3], enum fbp_type type, bool compress, uint64_t limit,
                  struct fbp_output_needs *out);
    /** Opens a sink; the members of struct fbp_sink are already set. After a failure the caller
     * closes the sink. */
    fbp_status (*open)(struct fbp_sink *s, const struct fbp_sink_request *rq);
    /** Address of the samples in the caller's memory; *device: device that owns the memory, NULL:
     * host memory. */
    void *(*memory)(const struct fbp_sink *s, struct fbp_device_memory **device);
    /** Stores slices and marks them as written; data: double for FBP_F64, else float. NULL in sinks
     * with files, whose struct fbp_store has a write() function. */
    fbp_status (*write)(struct fbp_sink *s, size_t z0, size_t nz, const void *data);
    /** Completes the output; called when all slices of this process are written. */
    fbp_status (*finish)(struct fbp_sink *s);
    size_t (*kept)(struct fbp_sink *s); /**< number of slices that a resumed run would find */
    uint64_t (*hash)(const struct fbp_sink *s);
    /** removes unfinished files, unless a run can resume them, and frees its own members */
    void (*close)(struct fbp_sink *s);
};

/** Members that all sinks have. */
struct fbp_sink {
    const struct fbp_sink_calls *calls;
    struct fbp_array_info info;
    size_t slice_bytes;   /**< bytes of a stored slice */
    pthread_mutex_t lock; /**< protects `have`, `n_have` and `clipped` */
    unsigned char *have;  /**< [info.n[2]] 1: the slice is written */
    size_t n_have;
    /** [info.n[2]] 1: this process writes the slice; NULL: it writes all slices */
    unsigned char *mine;
    uint64_t clipped; /**< number of values that were clipped to the range of info.type */
    /** hash of all settings that determine the samples; 0: the output cannot be resumed */
    uint64_t fingerprint;
    pid_t process; /**< process that opened the sink */
    bool finished;
    struct fbp_output *files; /**< files of the output; NULL: it has none */
    /** message about a failure that does not affect the output; NULL: no such failure */
    char *note;
};

/** Tables of the sinks that write files; sink.c chooses one by the name of the output. */
extern const struct fbp_sink_calls fbp_sink_file, fbp_sink_stack, fbp_sink_chunks;

/**
 * fbp_sink_open() for a file that contains more than the array; `path` names only the file.
 * `format` must outlive the sink; `context` is passed to format->layout_with() during this call.
 */
fbp_status fbp_sink_open_as(fbp_sink **out, const char *path, const struct fbp_array_info *info,
                            const struct fbp_sink_params *params,
                            const struct fbp_sink_format *format, const void *context);

/** Allocate a sink with the functions `calls` for an array of the type and size in `info`; after a
 * failure *out may need fbp_sink_close(). what: name of the sink in messages. */
fbp_status fbp_sink_create(struct fbp_sink **out, const struct fbp_sink_calls *calls,
                           const struct fbp_array_info *info, const char *what);

/** Size of one slice passed to fbp_sink_write() [bytes]: of doubles for FBP_F64, else of floats. */
static inline size_t fbp_sink_given_bytes(const struct fbp_sink *s)
{
    const size_t size = s->info.type == FBP_F64 ? sizeof(double) : sizeof(float);

    return s->info.n[0] * s->info.n[1] * size;
}

/** Mark slices [z0, z0 + nz) as written, and add `clipped` to the number of clipped values. */
void fbp_sink_mark_clipped(struct fbp_sink *s, size_t z0, size_t nz, uint64_t clipped);

/*
 * output_files.c: the files beside an output PATH until it is complete
 *
 * PATH.part: the samples, a file or a folder of chunks. In a stack, each slice has its NAME.part.
 *
 * PATH.part.log: journal and lock. The first line describes the output. A line "z0 nz hash" is
 * appended when slices [z0, z0 + nz) are stored. A run that resumes reads the samples again and
 * compares their hash; therefore no order of writes to the disk is required. A line "publish"
 * states that all slices of a stack are on disk and are being renamed. If several processes write
 * the output, this file is their manifest (shared_output.h).
 *
 * In a folder that other users can write to, a name such as v.mha.part may be any file: an input, a
 * link to one, a pipe. A file is created only if none exists. An existing file is reused only
 * beside a journal of fbp, and only if it is a regular file with a single name.
 */

/** Fail with FBP_ERR_INVALID if `path`, a temporary file of the output `o` that is being opened, is
 * an input of the run. o NULL: nothing is checked. */
fbp_status fbp_part_spare(struct fbp_output *o, const char *path);

/** First bytes of the manifest of an output that several processes write. */
#define FBP_PART_MANIFEST "fbp-journal 3 "

/**
 * Open and lock the journal of an output, or the manifest of a shared one.
 *
 * create  create a missing file; otherwise *fd is -1 for a missing file
 * wait    wait up to ten minutes for a locked manifest, because processes that share an output lock
 *         it for short times; any other locked file is an error
 * left    *left: an earlier run wrote the journal; false: it is new or empty
 * made    *made: the file may be removed, because it is new or empty
 * @return FBP_ERR_IO if another process holds the lock, FBP_ERR_INVALID if the file is not a
 *         journal
 */
fbp_status fbp_part_lock(struct fbp_output *o, const char *path, bool create, bool wait, int *fd,
                         bool *left, bool *made);

/** Find whether the open file fd still has the name `path`. */
fbp_status fbp_part_find_named(int fd, const char *path, bool *named);

/** Remove a temporary file if it is known to be fbp's (`ours`) or empty; refuse any other file, and
 * input files of the run that opens the output `o` (NULL: inputs are not checked). */
fbp_status fbp_part_clear(struct fbp_output *o, const char *path, bool ours);

/** Create a temporary file for reading and writing; fail if the file exists. */
fbp_status fbp_part_create(const char *path, int *fd);

/** Open a temporary file of an earlier run; *fd -1: there is no such file. */
fbp_status fbp_part_reopen(struct fbp_output *o, const char *path, int *fd);

/** Fail with FBP_ERR_INVALID and the message that an existing file is not a temporary file of fbp;
 * why: the reason in the message. */
fbp_status fbp_part_refuse(const char *path, const char *why);

/** Fail with FBP_ERR_IO and the message "PATH: cannot WHAT: …", the text of errno, and advice. */
fbp_status fbp_part_cannot(const char *what, const char *path);

fbp_status fbp_part_rename(const char *from, const char *to);

/** Name of a file beside an output. */
struct fbp_file_name {
    char text[4096];
};
struct fbp_file_name fbp_file_name(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* output_files.c: sinks with files */

/** Functions by which a kind of sink stores samples until the output is complete. */
struct fbp_store {
    /** Writes (put) or reads (get) bytes [at, at + n) of the unfinished output PATH.part; for
     * OME-Zarr, bytes of the full-resolution volume. NULL: the output has one file per slice. */
    fbp_status (*put)(void *output, uint64_t at, const void *data, size_t n);
    fbp_status (*get)(struct fbp_output *o, uint64_t at, void *out, size_t n);
    fbp_status (*write)(struct fbp_sink *s, size_t z0, size_t nz, const void *data);
    /** Counts slices that were recovered or written, to find layers of chunks whose slices are all
     * written; NULL: the output has no chunks. */
    fbp_status (*count)(struct fbp_output *o, size_t z0, size_t nz);
    /** Whether the stored slices [z0, z0 + nz) have this hash. boundary: file with the boundary
     * blocks of the process that wrote the slices, NULL: none. scratch: buffer of
     * FBP_WRITE_BUFFER_BYTES. */
    bool (*has)(struct fbp_output *o, const struct fbp_boundary *boundary, size_t z0, size_t nz,
                uint64_t hash, void *scratch);
    /** Creates the temporary output PATH.part, or opens an existing one; o->fd is then -1 if it
     * does not exist. */
    fbp_status (*open)(struct fbp_output *o, bool create);
    /** Removes the temporary samples of an earlier run. An error if they are neither empty nor
     * known to be fbp's by a journal (`ours`). */
    fbp_status (*clear)(struct fbp_output *o, bool ours);
    /** Removes the temporary samples; false: some of them could not be removed. */
    bool (*remove)(struct fbp_output *o);
    /** Reserves disk space for all samples, or compares their size with the free space: a full disk
     * is reported before any computation. */
    fbp_status (*reserve)(struct fbp_output *o);
    fbp_status (*sync)(struct fbp_output *o);    /**< syncs the temporary samples to disk */
    fbp_status (*publish)(struct fbp_output *o); /**< gives the complete output its final name */
    /** Completes an interrupted publish(). NULL: nothing to do. */
    fbp_status (*settle)(struct fbp_output *o);
    /** frees the members that this kind of sink adds; NULL: nothing to free */
    void (*close)(struct fbp_output *o);
};

/** A sink with files. */
struct fbp_output {
    struct fbp_sink sink;
    const struct fbp_store *store;
    /** Stores bytes of PATH.part: store->put(), or for an output of several processes
     * fbp_boundary_put(), which writes boundary blocks to another file. */
    fbp_status (*put)(void *output, uint64_t at, const void *data, size_t n);
    struct fbp_shared_output *shared; /**< NULL: one process writes the output */
    /** parameters of the sink, with the list of inputs, while it is being opened; later NULL */
    const struct fbp_sink_params *params;
    bool resume;   /**< continue the files of an earlier run */
    bool compress; /**< the samples are compressed when all of them are written */
    /** The program itself reads the file again and removes it (spool.c): writing starts no sync to
     * disk. */
    bool passing;
    bool owned;     /**< this sink created or resumed the temporary files: it may remove them */
    bool log_made;  /**< this sink is allowed to remove the journal */
    bool published; /**< the output has its final name; later errors go to sink.note */
    char *path, *part, *log;
    char *folder; /**< folder of an output of one file per slice; else NULL */
    bool made_folder;
    int fd; /**< descriptor of PATH.part; -1: not open */
    /** Mapping of PATH.part, if it is on a file system in memory: threads copy slices into it while
     * others write to the file. NULL: none; all slices are written. */
    char *map;
    size_t map_bytes;
    atomic_int n_storing; /**< number of threads that store bytes of PATH.part */
    pthread_t reserver;   /**< thread that allocates the pages of a PATH.part with a mapping */
    bool has_reserver;
    atomic_bool stop_reserver;
    int log_fd;
    uint64_t block;     /**< size of a layer of chunks [bytes]; 0: the output has no chunks */
    size_t part_offset; /**< byte of the first sample in PATH.part */
    const struct fbp_sink_format *format; /**< NULL: one file per slice */
    /** names and header of the output; in an output of one file per slice, only data_path is set:
     * the name of the first slice */
    struct fbp_layout layout;
};

/** Whether each slice is a file of its own. */
static inline bool fbp_output_is_stack(const struct fbp_output *o)
{
    return !o->store->put;
}

/** Functions that all sinks with files have in their tables (struct fbp_sink_calls). */
fbp_status fbp_output_finish(struct fbp_sink *s);
size_t fbp_output_kept(struct fbp_sink *s);
void fbp_output_close(struct fbp_sink *s);

/** Initialize a new sink that stores slices in files. The memory of the sink is zeroed; this
 * function sets the members that must have other values, such as file descriptors (-1). */
void fbp_output_begin(struct fbp_output *o, const struct fbp_store *store,
                      const struct fbp_sink_request *rq);

/** Choose format, file names and header of an output that is a file or a folder of chunks, and
 * check them. check: function that fails if its path exists and cannot be replaced. */
fbp_status fbp_output_name_file(struct fbp_output *o, const struct fbp_sink_request *rq,
                                fbp_status (*check)(const char *path));

/** Fail if the array is a series of volumes (frames) at several times, unless the format can store
 * a series (`has_place`), or if the frames cannot have the same number of slices. */
fbp_status fbp_output_check_frames(struct fbp_output *o, const char *path, bool has_place);

/** Set the names of the temporary files o->part and o->log beside o->path. If o->path is a link,
 * replace it by its target, whose name must end in one of `extensions` (NULL: links are not
 * followed). */
fbp_status fbp_output_name_parts(struct fbp_output *o, const char *extensions);

/** Lock an output whose names are set, and open its temporary files. If an earlier run is resumed,
 * mark the slices that it stored. */
fbp_status fbp_output_open(struct fbp_output *o, const struct fbp_sink_request *rq);

/** If `st` is a failure after the output got its final name: move its message to sink.note, and
 * return FBP_OK. Otherwise return st. */
fbp_status fbp_output_excuse(struct fbp_output *o, fbp_status st);

/** Remove the temporary files that are created while an output of one file gets its final name, if
 * they are known to be fbp's (`ours`) or empty. */
fbp_status fbp_output_clear_beside(struct fbp_output *o, bool ours);

/** Size of the complete PATH.part [bytes]. */
uint64_t fbp_output_part_bytes(struct fbp_output *o);

/** Write the format's header to the unfinished output PATH.part, if it begins with one. */
fbp_status fbp_output_write_header(struct fbp_output *o);

/** Write slices to the unfinished output PATH.part as floats or doubles, or converted to integers,
 * and list them in the journal; the function store->write of outputs in one file. */
fbp_status fbp_output_write(struct fbp_sink *s, size_t z0, size_t nz, const void *data);

/** Whether slices [z0, z0 + nz) in the unfinished output PATH.part have this hash; the function
 * store->has of outputs in one file. */
bool fbp_output_has(struct fbp_output *o, const struct fbp_boundary *boundary, size_t z0, size_t nz,
                    uint64_t hash, void *scratch);

/** Print the first line of the journal of an output, which describes the output. */
enum { FBP_JOURNAL_LINE = 160, FBP_JOURNAL_MOST_BYTES = 1 << 28 };
void fbp_journal_first(struct fbp_output *o, char line[FBP_JOURNAL_LINE]);

/** Empty the journal of an output, and write its first line. */
fbp_status fbp_journal_create(struct fbp_output *o);

/** Find whether the journal was written for this output; FBP_ERR_INVALID: other settings. */
fbp_status fbp_journal_find(struct fbp_output *o, bool *found);

/** Append a line for slices [z0, z0 + nz) to the journal; hash: hash of their stored bytes. */
fbp_status fbp_journal_append(struct fbp_output *o, size_t z0, size_t nz, uint64_t hash);

/** Parse a journal line "z0 nz hash" that lists stored slices; false: another kind of line, or
 * slices outside the volume. */
bool fbp_journal_read(struct fbp_output *o, const char *line, size_t *z0, size_t *nz,
                      uint64_t *hash);

/* sink_stack.c: one file per slice; called also by output_files.c and shared_output.c */

/** File name of slice z, such as "out/slice_0007.tif", with the suffix `end`: ".part" or "". */
struct fbp_file_name fbp_sink_slice_name(struct fbp_output *o, size_t z, const char *end);

/** Check that the disk that contains the open file fd has space for all slices, one file each. */
fbp_status fbp_stack_check_room(struct fbp_output *o, int fd);

/** Check that no files match the output's pattern, such as "out/%04d.tif", except slices of this
 * volume; a larger volume may have left others. */
fbp_status fbp_stack_check_others(struct fbp_output *o);

/** Remove temporary files of slices that this process should write, but has not written yet. */
fbp_status fbp_stack_clear_missing(struct fbp_output *o);

/** Rename the temporary files of slices [0, n) to their final names; some may be renamed already.
 * *gone: set to true if a slice has neither a temporary nor a final file. */
fbp_status fbp_stack_rename(struct fbp_output *o, size_t n, bool *gone);

/** Hash of all values written to a sink "hash:"; it does not depend on the order of writing. */
uint64_t fbp_sink_hash(const fbp_sink *sink);

#endif /* FBP_SRC_ARRAY_SINK_H */
