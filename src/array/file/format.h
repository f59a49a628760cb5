/** @file format.h  The interface of a format of arrays, the struct of an opened source, and
 * functions that several formats share (internal).
 *
 * A format is one struct fbp_format in array/format/. Its reader turns a header into fbp_array_info
 * and the position of the samples; if the samples are contiguous and uncompressed, source_read.c
 * reads them, else the format has its own read(). Its writer creates the bytes before the samples,
 * or encodes one slice as a whole file. Included by all of src/array and by the importers of
 * src/scan.
 */
#ifndef FBP_SRC_ARRAY_FILE_FORMAT_H
#define FBP_SRC_ARRAY_FILE_FORMAT_H

#include "base/base.h"

#include "fbp/array.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* paths.c: names of inputs */

/** Parts of the pattern "views/%04d.mha 1 360": pieces of the text with their lengths, and the
 *  numbers. */
struct fbp_pattern {
    const char *prefix, *suffix;
    int n_prefix, n_suffix, width;
    unsigned long long first, last;
};

/** Find the last %d or %0Nd in text[n]. Fills in all members except the two numbers. */
bool fbp_pattern_place(const char *text, size_t n, struct fbp_pattern *out);

/** malloc'ed name with this number; NULL when out of memory. */
char *fbp_pattern_name(const struct fbp_pattern *p, unsigned long long number);

/** Whether a file name, without folders, matches the pattern. *number: the number in the name. */
bool fbp_pattern_fits(const struct fbp_pattern *p, const char *name, unsigned long long *number);

/** Take an integer, and the blanks before it, from the end of text[n]: *n becomes smaller. */
bool fbp_last_number(const char *text, size_t *n, long long *out);

/** Parse a pattern with its two numbers. */
bool fbp_pattern_parse(const char *path, struct fbp_pattern *out);

/** Print a path to a malloc'ed text; FBP_ERR_NOMEM, and *out NULL. */
fbp_status fbp_print_path(char **out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Suffix "?sinogram" of a name: the two dimensions are [view][column]. */
extern const char FBP_SINOGRAM[];

/**
 * Split the name of an input, such as "scan.h5:/exchange/data", into file and member (array in the
 * file). If a file with the whole name exists, there is no member. Otherwise the split is at the
 * last ':' that follows the name of an existing file. FBP_SINOGRAM after the name of a file is a
 * member, too.
 *
 * file    malloc'ed
 * member  malloc'ed, or NULL
 * @return FBP_OK or FBP_ERR_NOMEM
 */
fbp_status fbp_member_split(const char *path, char **file, char **member);

/** Length of the file's name in an output's name; the file's name ends with one of `extensions`: 9
 *  for "volume.h5:/name", else the length of the whole name. */
size_t fbp_member_output(const char *path, const char *extensions);

/** Names of inputs as source names: files, patterns, folders, "FILE:ARRAY". */
struct fbp_inputs {
    char **names;
    size_t n, room;
};

/** Append a copy of `name`, unless it equals the last one; NULL: nothing is appended. */
fbp_status fbp_inputs_add(struct fbp_inputs *inputs, const char *name);

/** Append copies of all names of `more` except the first `skip`. */
fbp_status fbp_inputs_add_all(struct fbp_inputs *inputs, const struct fbp_inputs *more,
                              size_t skip);

void fbp_inputs_clear(struct fbp_inputs *inputs);

/* source_read.c, growing.c: sources */

/** Files by name, with device, inode, size and time at the start of reading. */
struct fbp_file_states {
    struct fbp_watched *files;
    size_t n, room;
    fbp_status status; /**< failure to record one of the files */
};

/** Record a file; false: it does not exist, or a failure (`status`). */
bool fbp_file_states_add(void *watch, const char *file);

/** FBP_ERR_IO, with a message about the first file that was replaced, modified or removed. */
fbp_status fbp_file_states_check(const struct fbp_file_states *watch);

void fbp_file_states_clear(struct fbp_file_states *watch);

/** An opened array. The functions of formats fill it in. */
struct fbp_source {
    char *path;   /**< name as given, for messages */
    char *file;   /**< part of it that names the file */
    char *member; /**< part of it that names the array in the file; NULL: none */
    /** Names of all files that the array is read from: `path`, then the data files. A format that
     *  opens another file adds its name. */
    struct fbp_inputs inputs;
    struct fbp_file_states
        watch; /**< states of the files of `inputs`; empty for a growing source */
    struct fbp_array_info info;
    int fd;          /**< file that holds the samples */
    uint64_t offset; /**< byte of sample (0,0,0) in fd */
    /** Reads whole rows in the file's type and native byte order; NULL: the samples are contiguous
     *  from `offset` on. */
    fbp_status (*read)(fbp_source *src, size_t slice, size_t row0, size_t n_rows, void *out);
    /** Used instead of `read` if several rows and slices are faster in one call; `as_float` also
     *  converts the samples to float. */
    fbp_status (*read_block)(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                             size_t n_rows, bool as_float, void *out);
    void (*close)(fbp_source *src); /**< frees `state`; NULL: nothing to free */
    void *state;
    const void *memory; /**< samples in the caller's memory; NULL: in a file */
    /** Device that owns `memory` (array/device_memory.h); NULL: the host. */
    struct fbp_device_memory *far;
    bool in_order; /**< compressed stream: reading backwards restarts at the beginning */
    bool unpacks;  /**< reading includes decompression or other computation, and is faster with
                      several threads */
    uint64_t held_bytes;   /**< upper bound of the memory that the source uses [bytes] */
    uint64_t reader_bytes; /**< upper bound of additional memory per reading thread [bytes] */
    bool headerless;       /**< described by the caller; other bytes may precede the samples */
    bool growing;          /**< still being written: the file may end before the samples do */
    bool imaginary;        /**< the imaginary parts of complex samples are requested */
    bool complex;          /**< the samples are complex; only one part is read */
    bool list;             /**< numbers are requested, not an array: one dimension is enough */
    /** Growing source of several files: gets the number of complete views, from the first on, and
     *  the bytes of all files. `again`: all files are checked anew. NULL: one file. */
    fbp_status (*look)(fbp_source *src, bool again, size_t *n_views, uint64_t *bytes);
    struct fbp_follow *follow; /**< thread that waits for views; NULL: all views are available */
    fbp_source *below; /**< wrapped source (for example of scan/file/reduce.c); NULL: the samples
                          are in files */
    bool owns_below;   /**< closing the source also closes `below` */
    enum fbp_type stored_type; /**< type of the samples in `below` */
    uint64_t stored_bytes;     /**< bytes of all samples of `below` that are read */
};

/** Open one of the files of `all`, which describes its samples: n_slices of them, contiguous from
 *  byte 0.  The caller then sets another offset or byte order.  path: from malloc(), taken over;
 *  NULL: there was no memory for it. */
fbp_status fbp_source_open_one(const fbp_source *all, size_t n_slices, char *path,
                               fbp_source **out);

/** Whether the source must be read in order: compressed and growing sources. */
bool fbp_source_in_order(const fbp_source *src);

/** fbp_source_read() without conversion: the source's own type, in native byte order. */
fbp_status fbp_source_read_as_is(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                                 size_t n_rows, void *out);

/** All samples in the caller's memory, [slice][row][column] of info.type; NULL: in a file. */
const void *fbp_source_samples(const fbp_source *src);

/** Memory that a source uses while `n` threads read it, without their buffers [bytes]. */
uint64_t fbp_source_bytes(const fbp_source *src, int n);

/** Whether several threads read the source faster than one. */
bool fbp_source_reads_in_parallel(const fbp_source *src);

/** Replace the open file by the data file `path`; *size: its bytes. */
fbp_status fbp_source_use_file(fbp_source *src, const char *path, uint64_t *size);

/** Put "PATH: its samples: " before the message of a failure; returns st. */
fbp_status fbp_fail_samples(const fbp_source *src, fbp_status st);

/** Whether the source is still being written, and reading may have to wait. */
bool fbp_source_grows(const fbp_source *src);

/** Called every few hundredths of a second during the wait for a view; n_there: number of complete
 *  views. Nonzero: stop waiting. */
typedef int fbp_idle_fn(void *user, size_t n_there);

/**
 * Wait until views [0, n_views) are complete. Returns at once if the source does not grow.
 *
 * idle     may be NULL
 * n_there  number of complete views, from the first on; may be NULL
 * @return FBP_OK, FBP_ERR_IO (the file shrank, was replaced or removed, or did not grow for too
 *         long), FBP_ERR_INVALID (the file contradicts its description), FBP_ERR_CANCELLED by
 *         `idle`
 */
fbp_status fbp_source_await(fbp_source *src, size_t n_views, fbp_idle_fn *idle, void *user,
                            size_t *n_there);

/** Time at which the last view was complete, on the clock of fbp_seconds() [s]; 0: incomplete, or
 *  the source does not grow. */
double fbp_source_complete_at(const fbp_source *src);

/** Start the thread that waits for views of a growing source. On failure *out may be partly
 *  initialized; the caller destroys it. */
fbp_status fbp_follow_create(struct fbp_follow **out, const fbp_source *src, double timeout_s);

/** Stop the thread and free it; *follow may be NULL. */
void fbp_follow_destroy(struct fbp_follow **follow);

/* layout.c, chunks.c: files that sinks write */

/** Bytes of a buffer in which a sink converts, writes and hashes values. A hash is chained over
 *  buffers, counted from the start of the data. */
enum { FBP_WRITE_BUFFER_BYTES = 1 << 20 };

/** Hash of n bytes, chained over buffers through h. */
uint64_t fbp_write_buffer_hash(uint64_t h, const void *data, size_t n);

/** Buffer of a file that is written sequentially from byte `at` on. */
struct fbp_write_buffer {
    int fd;
    const char *path;
    /** Called instead of writing to fd; NULL: fd is written. */
    fbp_status (*to)(void *user, uint64_t at, const void *data, size_t n);
    void *user;
    uint64_t at, hash;
    size_t n;
    char *buf;
};

fbp_status fbp_write_buffer_open(struct fbp_write_buffer *p, int fd, const char *path, uint64_t at);
fbp_status fbp_write_buffer_put(struct fbp_write_buffer *p, const void *data, size_t n);

/** Append n values, converted to info->type with its scale; *clipped is increased. values: double
 *  for FBP_F64, else float. */
fbp_status fbp_write_buffer_put_values(struct fbp_write_buffer *p,
                                       const struct fbp_array_info *info, const void *values,
                                       size_t n, uint64_t *clipped);

/** Write the rest of the buffer; then `hash` is the hash of all bytes. */
fbp_status fbp_write_buffer_flush(struct fbp_write_buffer *p);
void fbp_write_buffer_close(struct fbp_write_buffer *p);

/**
 * Convert values to uint8 or uint16 in native byte order: number = (value - offset) / scale,
 * rounded. Values outside the range are clipped, and NaN becomes 0. Returns the number of such
 * values.
 */
uint64_t fbp_from_float(const struct fbp_array_info *info, const float *in, size_t n, void *out);

/** Parts of a file that a sink writes around the samples. */
struct fbp_layout {
    char *header; /**< bytes before the samples, malloc'ed; may be empty */
    size_t header_bytes;
    /** Writes a header that is too large for memory; NULL: `header` holds it. */
    fbp_status (*put_header)(const struct fbp_array_info *info, struct fbp_write_buffer *to);
    size_t tail_bytes; /**< number of zero bytes after the samples */
    char *side_path;   /**< name of a small text file (MHD header), malloc'ed; NULL: none */
    char *side_text;   /**< its text, malloc'ed */
    char *data_path;   /**< final name of the file with the samples; malloc'ed */
};

/** Write the header to the buffer. */
fbp_status fbp_layout_put(const struct fbp_layout *layout, const struct fbp_array_info *info,
                          struct fbp_write_buffer *to);

/** Set the layout of one file at `path` with header and samples. */
fbp_status fbp_layout_one(struct fbp_layout *out, const char *path);

/** Set the layout of a header file beside a data file: out->side_path is `path`, which ends with
 *  the extension `own`; the data file has the extension `samples` instead. *name: name of the data
 *  file without folders, within *out. */
fbp_status fbp_layout_pair(struct fbp_layout *out, const char *path, const char *own,
                           const char *samples, const char **name);

void fbp_layout_clear(struct fbp_layout *layout);

/** Check spacings and origins that a header is to store. *given: the info contains at least one. */
fbp_status fbp_sink_spacing(const char *path, const struct fbp_array_info *info, bool *given);

/*
 * chunks.c: a volume in chunks, and smaller volumes (resolution levels) computed from it
 *
 * Level 0 is the volume. A voxel of the next level is the mean of up to 2 x 2 x 2 voxels of the
 * level before; at the end of an axis of odd length, of the existing voxels. An axis of one voxel
 * is not reduced.
 */

/** Levels are added until no side is longer than FBP_LEVELS_LEAST or than four chunks. */
enum { FBP_LEVELS_MOST = 64, FBP_LEVELS_LEAST = 256, FBP_CHUNK_EDGE = 64 };

struct fbp_level {
    size_t n[3];      /**< voxels x, y, z */
    size_t step[3];   /**< spacing, in voxels of level 0 */
    size_t chunks[3]; /**< number of chunks x, y, z; chunks with the same z form a layer */
};

struct fbp_levels {
    size_t n_levels;
    size_t chunk[3]; /**< voxels per chunk at every level; even along an axis of several chunks */
    struct fbp_level level[FBP_LEVELS_MOST];
};

/** Compute the levels of a volume of n voxels. edge: longest side of a chunk, an even number. */
void fbp_levels_make(const size_t n[3], size_t edge, struct fbp_levels *out);

/** A box of samples in memory; step: samples from row to row, and from slice to slice. */
struct fbp_level_box {
    void *data;
    size_t n[3], step[2];
};

/** Compute means of up to 2 x 2 x 2 samples without NaN; NaN if all are NaN. Integers are rounded
 *  to nearest, halves up. out->n: in->n / 2, rounded up. */
void fbp_levels_mean(enum fbp_type type, const struct fbp_level_box *in,
                     const struct fbp_level_box *out);

/* the interface of a format (tables in array/format/) */

/** Writer of the small text files in a folder of chunks (array/sink_chunks.c). */
struct fbp_chunk_format {
    /** Name and text of file k, malloc'ed; *name NULL: no more files. compression: zlib level of
     *  the chunks; 0: not compressed. */
    fbp_status (*text)(const struct fbp_array_info *info, const struct fbp_levels *levels,
                       int compression, size_t k, char **name, char **text);
};

/** Writer of files with a header and samples; a format may have a list of them. */
struct fbp_sink_format {
    const char *extensions; /**< ".tif .tiff"; NULL: end of the list */
    /** Creates the layout. path: as given, "FILE" or "FILE:ARRAY"; compressed_bytes: 0 for
     *  uncompressed samples, else the size of the zlib stream that follows the header. */
    fbp_status (*layout)(const char *path, const struct fbp_array_info *info,
                         uint64_t compressed_bytes, struct fbp_layout *out);
    /** Creates the layout of a file with further contents, described by `context`: only for
     *  fbp_sink_open_as(). path: the file. */
    fbp_status (*layout_with)(const void *context, const char *path,
                              const struct fbp_array_info *info, struct fbp_layout *out);
    bool can_compress;
    bool gzip;         /**< a compressed stream has a gzip header instead of a zlib header */
    bool packs_header; /**< the file is always compressed, header and samples together */
    bool frames;       /**< a series of volumes (frames) can be stored */
    /** Text files, if the output is a folder of chunks, whose layout has no header. NULL: a
     *  file. */
    const struct fbp_chunk_format *chunks;
};

/** Encodes one slice as a file and writes it through `p`. values: double for FBP_F64, else
 *  float. */
typedef fbp_status fbp_encode_fn(struct fbp_write_buffer *p, const struct fbp_array_info *slice,
                                 const void *values, uint64_t *clipped);

/** Writer of stacks, one file per slice: "out/slice_%04d.tif". If no fbp_sink_format of the format
 *  has the extension, a name without a number is valid for a single slice. */
struct fbp_slice_format {
    const char *extensions;
    fbp_encode_fn *encode;
    /** Refuses an info that the format cannot store; info->type is set. NULL: all are accepted. */
    fbp_status (*check)(const char *path, const struct fbp_array_info *info);
    bool integers_only; /**< uint8 and uint16 */
    bool compressed; /**< sizes are not known in advance; encoding is faster with several threads */
};

/** A format of arrays. */
struct fbp_format {
    const char *name;       /**< "mha", the beginning of fbp_array_info.format, in lower case */
    const char *title;      /**< title "MHA", as in docs/formats.md */
    const char *extensions; /**< extensions for reading, ".mha .mhd"; "": none */
    /** Recognizes a file by its first n bytes (at most 4096), or by its name. NULL: never. */
    bool (*detect)(const char *path, const unsigned char *head, size_t n);
    /** Recognizes a folder that is one array; src->fd is -1 then. NULL: arrays are files. */
    bool (*is_folder)(const char *path);
    /** Reads the header and fills in src; path and fd (header file) are set. NULL: files need a
     *  description. */
    fbp_status (*open)(fbp_source *src);
    /** Why a file that is still being written is refused, "a PNG file cannot be …"; NULL: open()
     *  accepts it. */
    const char *not_growing;
    bool has_members;                      /**< a file may contain several arrays, "FILE:ARRAY" */
    const struct fbp_sink_format *files;   /**< writers of one file per array; NULL: none */
    const struct fbp_slice_format *slices; /**< writer of one file per slice; NULL: none */
};

/* Formats that need a library, which a build may lack. array/format/optional.c has their tables,
 * and, in such a build, functions that refuse all files. */

/** Extensions that are read, and extensions that are written. */
#define FBP_HDF5_READ    ".h5 .hdf5 .nxs .nx .hdf"
#define FBP_HDF5_WRITTEN ".h5 .hdf5"

/** Members of struct fbp_format and of its writers (hdf5.c, hdf5_write.c, tiff.c, tiff_write.c). */
fbp_status fbp_hdf5_source(struct fbp_source *src);
fbp_status fbp_hdf5_layout(const char *path, const struct fbp_array_info *info,
                           uint64_t compressed_bytes, struct fbp_layout *out);
fbp_status fbp_tiff_source(struct fbp_source *src);
fbp_status fbp_tiff_layout(const char *path, const struct fbp_array_info *info,
                           uint64_t compressed_bytes, struct fbp_layout *out);
fbp_encode_fn fbp_tiff_encode;

/** Whether a file begins like HDF5, directly or after a user block. */
bool fbp_hdf5_detect(const char *path, const unsigned char *head, size_t n);

/** Fail with "PATH: HDF5 files are not supported by this build …": FBP_ERR_UNSUPPORTED. files:
 *  "HDF5 files"; package: Debian package of the library; option: build option, "FBP_HDF5". */
fbp_status fbp_fail_no_library(const char *path, const char *files, const char *package,
                               const char *option);

/* functions that several formats share */

/* A series of volumes is an array with n[2] / frames slices per volume, in the order of the
 * volumes. Headers of formats store four sizes. */

/** Number of volumes of an array: 1 if it is not a series. */
static inline size_t fbp_array_frames(const struct fbp_array_info *info)
{
    return info->time_points > 1 ? info->time_points : 1;
}

/** Slices per volume. */
static inline size_t fbp_frame_slices(const struct fbp_array_info *info)
{
    return info->n[2] / fbp_array_frames(info);
}

/** Turn an array of n[2] slices into a series of `frames` volumes of n[2] slices each. */
static inline fbp_status fbp_frames_take(const char *path, struct fbp_array_info *info,
                                         uint64_t frames)
{
    if (frames > SIZE_MAX || __builtin_mul_overflow(info->n[2], (size_t)frames, &info->n[2]))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: the header gives %llu volumes, which is impossible; the header is "
                        "damaged, copy the file again",
                        path, (unsigned long long)frames);
    info->time_points = frames > 1 ? (size_t)frames : 0;
    return FBP_OK;
}

/**
 * Set spacing and origin of src->info from the vectors between neighbouring samples along each
 * index, in mm (values.c).
 *
 * step[n][3], n = 2 or 3; origin[3]: centre of element (0,0,0). The axes of the grid are kept: the
 * spacing is the length of the vectors, and the origin is expressed along the axes. A file that is
 * rotated or mirrored in its space becomes the volume in the order of its indices.
 *
 * @return FBP_ERR_INVALID for vectors of length 0, FBP_ERR_UNSUPPORTED for axes that are not
 *         orthogonal
 */
fbp_status fbp_source_take_axes(struct fbp_source *src, size_t n, const double (*step)[3],
                                const double origin[3]);

/** Reduce a source of complex samples to their real parts, or, with src->imaginary, to their
 *  imaginary parts: info.type becomes the type of a part. Parts alternate in the file
 *  (values.c). */
void fbp_source_take_complex_part(struct fbp_source *src);

/** Greatest number of bytes that one byte of a deflate stream expands to: 258 bytes per 2 bits. */
enum { FBP_DEFLATE_AT_MOST = 1032 };

/** Read the samples of src, `bytes` in all, from a zlib or gzip stream that starts at src->offset
 *  in src->fd; its first `skip` bytes are not samples (inflate.c). stated: bytes of the stream
 *  according to a header; 0: not stated. FBP_ERR_INVALID if the file cannot contain the stream,
 * FBP_ERR_UNSUPPORTED if the source grows. */
fbp_status fbp_inflate_open(struct fbp_source *src, uint64_t stated, uint64_t skip, uint64_t bytes);

/** Whether these bytes begin a gzip file. */
bool fbp_is_gzip(const unsigned char *head, size_t n);

/** Decompress the beginning of a stream in head[n]: *got <= max bytes; 0 if it is not a stream. */
fbp_status fbp_inflate_head(const unsigned char *head, size_t n, unsigned char *out, size_t max,
                            size_t *got);

/** malloc'ed line of JSON, {"fbp": 1, "type": …, "size": …, …}, for formats without a field for row
 *  order, unit, scale, spacing and origin; NULL when out of memory (describe.c). */
char *fbp_describe(const struct fbp_array_info *info);

/**
 * Parse a line of fbp_describe() from text[n] into *info, if the line is valid and has the type of
 * *info (type NONE: type and size are filled in, too).
 *
 * sized  the line must have the size of *info; otherwise a slice of a larger volume is accepted
 * ours   *ours: the text is such a line; false: *info is unchanged
 * @return FBP_ERR_NOMEM
 */
fbp_status fbp_parse_description(const char *text, size_t n, bool sized,
                                 struct fbp_array_info *info, bool *ours);

/** Parse the description in PATH.json, if that file exists. FBP_ERR_IO: it cannot be read. */
fbp_status fbp_parse_description_beside(const char *path, struct fbp_array_info *info, bool *ours);

/** Put the name and the text of PATH.json into *out. */
fbp_status fbp_describe_beside(const char *path, const struct fbp_array_info *info,
                               struct fbp_layout *out);

/**
 * Write a sentence to info->missing: `n` of `all` chunks are missing (`what`: "chunks are
 * missing").
 * lacks: [slices] 1 for each slice with a missing chunk; NULL: unknown
 */
void fbp_describe_missing(const char *path, size_t n, size_t all, const char *what,
                          const unsigned char *lacks, struct fbp_array_info *info);

/** Cache of decoded chunks for neighbouring rows and slices, which often lie in the same chunks
 *  (chunks.c). */
struct fbp_cache {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct fbp_cached *slots;
    size_t n_slots, chunk_bytes;
    uint64_t clock;
};

/** Greatest number of slots; the search is linear. */
enum { FBP_CACHE_MOST = 1024 };

/** Initialize a cache without slots. */
void fbp_cache_open(struct fbp_cache *cache);

/** Allocate the slots. n_slots: at least one per thread that holds a chunk at the same time, or one
 *  per chunk. */
fbp_status fbp_cache_make(struct fbp_cache *cache, size_t n_slots, size_t chunk_bytes);
void fbp_cache_close(struct fbp_cache *cache);

/** Decode chunk k. */
typedef fbp_status fbp_cache_load_fn(void *user, size_t k, void *out);

/** Get chunk k. The first thread that needs the chunk decodes it; other threads wait. Each
 *  successful call is followed by fbp_cache_give_back(). */
fbp_status fbp_cache_take(struct fbp_cache *cache, size_t k, fbp_cache_load_fn *load, void *user,
                          struct fbp_cached **out);
void fbp_cache_give_back(struct fbp_cache *c, struct fbp_cached *s);
const void *fbp_cache_data(const struct fbp_cached *s);

/**
 * Check that the files of a source have not changed since they were opened: the same files, sizes
 * and times.  Call this after everything has been read, before results are used.  fbp_plan_run()
 * makes this check itself.
 * @return FBP_OK, or FBP_ERR_IO with a message that contains the file's name.
 */
fbp_status fbp_source_unchanged(fbp_source *src);

#endif /* FBP_SRC_ARRAY_FILE_FORMAT_H */
