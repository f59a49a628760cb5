/** @file sink.h  A sink from inside (internal). */
#ifndef FBP_SRC_SINK_H
#define FBP_SRC_SINK_H

#include "array/array.h"
#include "array/file/pattern.h"
#include "array/file/piece.h"
#include "array/part.h"

#include <pthread.h>
#include <sys/types.h>

enum fbp_sink_kind {
    FBP_SINK_NULL,
    FBP_SINK_HASH,
    FBP_SINK_FILE,
    FBP_SINK_STACK, /**< a file a slice */
    FBP_SINK_MEMORY,
    FBP_SINK_CALLED /**< a function of the caller's */
};

/** What a sink of kinds FBP_SINK_MEMORY and FBP_SINK_CALLED does. */
struct fbp_sink_calls {
    fbp_status (*write)(struct fbp_sink *s, size_t z0, size_t nz, const void *data);
    fbp_status (*finish)(struct fbp_sink *s);
    void (*close)(struct fbp_sink *s);
};

struct fbp_sink {
    enum fbp_sink_kind kind;
    struct fbp_array_info info;
    uint64_t fingerprint; /**< 0 = not resumable */
    bool compress;        /**< the samples are compressed when all are there */
    pid_t process;        /**< that opened it */
    bool owned;           /**< the temporary files are ours to keep or to remove */
    bool log_made;        /**< and so is at least the journal */
    bool lock_made;       /**< and the second lock */
    bool finished;
    bool published;      /**< output complete under its final name; later errors become a note
                          */
    bool passing;        /**< read again and removed: it need not reach a disk */
    size_t slice_bytes;  /**< as stored */
    uint64_t *hash;      /**< of each slice; HASH only */
    void *memory;        /**< of the caller; MEMORY only */
    struct fbp_far *far; /**< where that is; NULL: in the host's */
    struct fbp_called_sink *called;     /**< CALLED only (array/called_sink.c) */
    const struct fbp_sink_calls *calls; /**< of these two; NULL: of others */
    pthread_mutex_t lock;
    unsigned char *have; /**< 1 a slice that is written; under `lock` */
    size_t n_have;
    uint64_t clipped; /**< values beyond the range of info.type; under `lock` */

    const struct fbp_format *slices; /**< STACK only, and … */
    struct fbp_pattern pattern;      /**< of path; suffix NULL: a single file */
    char *folder;
    bool made_folder;

    const struct fbp_sink_format *format; /**< the rest: FILE only, but for names and descriptors */
    const void *context;                  /**< of format->layout_with() while it is opened */
    char *path, *part, *log;
    /** Also locked, where an output of another name would write the same files: that of samples
     *  beside their header, that of a pattern without padding.  NULL: there is none such. */
    char *lock_path;
    struct fbp_layout layout;
    size_t part_offset; /**< of the samples in the temporary file */
    int fd, log_fd, lock_fd;
    char *note; /**< what did not work, and does no harm to the output; NULL: nothing */
    struct fbp_joint
        *joint; /**< several processes write it (array/joint.h); NULL: this one alone */
    struct fbp_chunked
        *chunked; /**< a folder of chunks, whose descriptor fd is (array/chunked.h); NULL: a file */
};

/**
 * As fbp_sink_open(), of a file that holds more than the array, without an array's name behind its
 * own.  `format` is used as long as the sink is, its layout_with() only here, with `context`.
 */
fbp_status fbp_sink_open_as(fbp_sink **out, const char *path, const struct fbp_array_info *info,
                            const struct fbp_sink_params *params,
                            const struct fbp_sink_format *format, const void *context);

/** Bytes of a slice as the sink takes it: doubles for FBP_F64, else floats. */
static inline size_t fbp_sink_given_bytes(const struct fbp_sink *s)
{
    const size_t size = s->info.type == FBP_F64 ? sizeof(double) : sizeof(float);

    return s->info.n[0] * s->info.n[1] * size;
}

/** Bytes [at, at + n) of the temporary file; of chunks, those of level 0 (array/sink_place.c). */
fbp_status fbp_sink_put(const struct fbp_sink *s, uint64_t at, const void *data, size_t n);
fbp_status fbp_sink_get(const struct fbp_sink *s, uint64_t at, void *out, size_t n);

/** Everything that was put is on the disk. */
fbp_status fbp_sink_sync(const struct fbp_sink *s);

/** Nothing is at PATH.part, or it is removed if it is `ours` or empty; anything else is refused. */
fbp_status fbp_sink_part_clear(struct fbp_sink *s, const struct fbp_part_inputs *inputs, bool ours);

/** Create PATH.part; open the one that is there, s->fd -1: it is gone. */
fbp_status fbp_sink_part_create(struct fbp_sink *s);
fbp_status fbp_sink_part_reopen(struct fbp_sink *s, const struct fbp_part_inputs *inputs);

/** PATH.part is there in full, as whoever creates it reserves it; else a message says what is not.
 */
fbp_status fbp_sink_part_check(const struct fbp_sink *s);

/** Remove PATH.part; false: it is still there. */
bool fbp_sink_part_remove(const struct fbp_sink *s);

/** Bytes of the temporary file. */
uint64_t fbp_sink_part_bytes(const struct fbp_sink *s);

/** Mark slices [z0, z0+nz) as written. */
void fbp_sink_mark(struct fbp_sink *s, size_t z0, size_t nz);

/** The same, with so many values clipped. */
void fbp_sink_mark_clipped(struct fbp_sink *s, size_t z0, size_t nz, uint64_t clipped);

/** s->lock_path, which is named after `name`, before ".part.log"; NULL: there is none such. */
fbp_status fbp_sink_name_second(struct fbp_sink *s, const char *name);

/** Open and lock the journal, so that no other process writes this output, and s->lock_path;
 *  *left: there was a journal already. */
fbp_status fbp_sink_lock(struct fbp_sink *s, const struct fbp_part_inputs *inputs, bool *left);

/** The lock of s->lock_path alone, for as long as it takes; NULL: there is none such. */
fbp_status fbp_sink_lock_second(struct fbp_sink *s, const struct fbp_part_inputs *inputs);
void fbp_sink_unlock_second(struct fbp_sink *s);

/** Open PATH.part, whose journal is locked; *fresh: nothing of use was found in it. */
fbp_status fbp_sink_part_open(struct fbp_sink *s, const struct fbp_part_inputs *inputs, bool left,
                              bool resume, bool *fresh);

/** Make room for the temporary files of a single file: what is there must be `ours`, or empty. */
fbp_status fbp_sink_file_clear(struct fbp_sink *s, const struct fbp_part_inputs *inputs, bool ours);

/** Remove the temporary files of a single file. */
void fbp_sink_file_remove(const struct fbp_sink *s);

/** Go over to the file that a link leads to, there or not, which must be named as one of the same
 *  format: *path is freed and replaced. */
fbp_status fbp_sink_follow_link(char **path, const char *extensions);

/** Reserve room for the whole file; a full disk is found here. */
fbp_status fbp_sink_reserve(struct fbp_sink *s);

/** Bytes [at, at+n) of the temporary file are written, and not needed again: their way to the disk
 *  begins, while others are computed. */
void fbp_sink_begin_sync(const struct fbp_sink *s, uint64_t at, uint64_t n);

/** The status of a step that may come after publication: a failure then becomes s->note, and FBP_OK
 *  is returned. */
fbp_status fbp_sink_excuse(struct fbp_sink *s, fbp_status st);

/** What stands before the samples, into the temporary file. */
fbp_status fbp_sink_write_header(const struct fbp_sink *s);

/** Everything is written: compress, sync, rename, remove the journal. */
fbp_status fbp_sink_publish(struct fbp_sink *s);

/** Of that: sync and rename, of what is not compressed. */
fbp_status fbp_sink_publish_names(struct fbp_sink *s);

/** The first line of a journal, which says what output it is. */
enum { FBP_JOURNAL_LINE = 160 };
void fbp_journal_first(const struct fbp_sink *s, char line[FBP_JOURNAL_LINE]);

/** Empty the journal, and begin it. */
fbp_status fbp_journal_create(struct fbp_sink *s);

/** Is the journal that of this output?  FBP_ERR_INVALID if it is that of other settings. */
fbp_status fbp_journal_find(const struct fbp_sink *s, bool *found);

/** Note, on disk, that all slices are whole and get their names now. */
fbp_status fbp_journal_publish(const struct fbp_sink *s);

/** Was a run stopped while its slices got their names?  *n_slices: how many; 0: no. */
fbp_status fbp_journal_published(const struct fbp_sink *s, size_t *n_slices);

/** Are slices [z0, z0+nz) in a temporary file, with this hash?  scratch: FBP_PIECE_BYTES. */
typedef bool fbp_run_there_fn(const struct fbp_sink *s, size_t z0, size_t nz, uint64_t hash,
                              void *scratch);

/** Read the journal, ask of every run whether it is there, and mark those that are. */
fbp_status fbp_journal_resume(struct fbp_sink *s, fbp_run_there_fn *is_there);

/** Note that slices [z0, z0+nz) are written; the hash of what is stored, chained over pieces. */
fbp_status fbp_journal_append(const struct fbp_sink *s, size_t z0, size_t nz, uint64_t hash);
/** What such a line says; false: it is none, or of slices that there are not. */
bool fbp_journal_read(const struct fbp_sink *s, const char *line, size_t *z0, size_t *nz,
                      uint64_t *hash);

#endif /* FBP_SRC_SINK_H */
