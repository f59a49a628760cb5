/** @file chunked.h  An output that is a folder of chunks with smaller resolution levels: OME-Zarr
 * (internal).
 *
 * The folder is called PATH.part until it is complete. In it, the file "L/Z/Y/X" is a chunk of
 * level L. Slices are first written into uncompressed ("plain") chunks. If the output is
 * compressed, a plain chunk is called "L/Z/Y/X.part"; it is compressed ("packed") when it is
 * complete, and removed when all chunks of its layer are packed.
 *
 * A layer is all chunks with the same Z. A layer that has all its slices is downsampled ("raised"):
 * the means of 2 x 2 x 2 voxels are written into the next level, where they fill half a layer. If
 * several processes write slices of a layer, the last of them raises it. Chunks of level 0 that
 * several processes write are boundary blocks (array/shared_output.h): only one process at a time
 * writes a chunk.
 *
 * sink_files.c and shared_output.c call chunked.c, which calls chunk_files.c.
 */
#ifndef FBP_SRC_ARRAY_CHUNKED_H
#define FBP_SRC_ARRAY_CHUNKED_H

#include "array/sink.h"

/** Completed steps of a layer of chunks. */
enum { FBP_LAYER_RAISED = 1, FBP_LAYER_PACKED = 2 };

struct fbp_chunked {
    struct fbp_levels levels;
    const struct fbp_chunk_format *format;
    int compression;    /**< zlib level; 0: chunks are not compressed */
    size_t chunk_bytes; /**< bytes of a plain chunk */
    size_t threads;     /**< greatest number of threads that raise or pack a layer */
    unsigned char *done[FBP_LEVELS_MOST]; /**< flags FBP_LAYER_* per layer; under the sink's lock */
    size_t *put; /**< number of slices written into each layer of level 0 */
    unsigned char *halves[FBP_LEVELS_MOST]; /**< layers that this process raised into each layer */
    pthread_mutex_t turn;                   /**< held while a layer is raised and packed */
    pthread_mutex_t unpacking;              /**< held while a chunk is decompressed */
};

/* chunked.c: the whole image */

/** Set s->chunked of a sink whose sizes are set; opens no file. level_bytes: as in
 *  fbp_sink_params. */
fbp_status fbp_chunked_create(struct fbp_sink *s, const struct fbp_chunk_format *format,
                              uint64_t level_bytes);
void fbp_chunked_destroy(struct fbp_chunked **chunked);

/** Check that the name is free, or that it names an image whose folder contains no other files. */
fbp_status fbp_chunked_check(const char *path);

/** Create PATH.part as s->fd; open an existing PATH.part (s->fd -1: it does not exist). */
fbp_status fbp_chunked_begin(struct fbp_sink *s);
fbp_status fbp_chunked_reopen(struct fbp_sink *s);

/** Remove PATH.part if it is `ours` or empty. If `ours`, also complete an interrupted replacement
 *  of an older image (fbp_chunked_settle_old()). */
fbp_status fbp_chunked_clear(const struct fbp_sink *s, const struct fbp_part_inputs *inputs,
                             bool ours);
void fbp_chunked_remove(const struct fbp_sink *s);

/** Complete a replacement that was interrupted: remove the old image if the new image exists, else
 *  rename the old one back. */
fbp_status fbp_chunked_settle_old(const struct fbp_sink *s);

/** Check that the disk has space for all chunks that do not exist yet. */
fbp_status fbp_chunked_room(const struct fbp_sink *s);

/** Record slices [z0, z0 + nz) as written, then raise and pack the layers that they complete. */
fbp_status fbp_chunked_count(struct fbp_sink *s, size_t z0, size_t nz);

/** Apply a journal line of another process: layers that it raised or packed. */
void fbp_chunked_take_line(const struct fbp_sink *s, const char *line);

/** Check that all chunks of a layer exist.  remedy: as in fbp_chunk_check(). */
fbp_status fbp_chunked_check_layer(const struct fbp_sink *s, size_t level, size_t layer,
                                   const char *remedy);

/** Raise and pack all remaining layers; all slices are written. */
fbp_status fbp_chunked_complete(struct fbp_sink *s);

/** Publish a complete image: write text files, sync, rename. */
fbp_status fbp_chunked_publish(struct fbp_sink *s);

/* chunk_files.c: samples and chunks; k: index x, y, z of a chunk in its level */

/** Write or read bytes [at, at + n) of level 0 in the order [z][y][x]; whole samples only. */
fbp_status fbp_chunked_put(const struct fbp_sink *s, uint64_t at, const void *data, size_t n);
fbp_status fbp_chunked_get(const struct fbp_sink *s, uint64_t at, void *out, size_t n);

/** Write bytes [at, at + n) of a plain chunk. */
fbp_status fbp_chunk_put(const struct fbp_sink *s, size_t level, const size_t k[3], size_t at,
                         const void *data, size_t n);

/** Read a whole chunk, packed or plain. */
fbp_status fbp_chunk_read(const struct fbp_sink *s, size_t level, const size_t k[3], void *out);

/** Disk space of a plain chunk [bytes]; 0: it does not exist. */
uint64_t fbp_chunk_taken(const struct fbp_sink *s, size_t level, const size_t k[3]);

/** FBP_ERR_IO if a chunk that was written, packed or plain, does not exist or has another size.
 *  remedy: end of the message, after "or remove PATH.part"; NULL: "* and start again". */
fbp_status fbp_chunk_check(const struct fbp_sink *s, size_t level, const size_t k[3],
                           const char *remedy);

/** Compress a plain chunk into a file beside it. scratch: fbp_chunk_packed_bytes(). */
fbp_status fbp_chunk_pack(const struct fbp_sink *s, size_t level, const size_t k[3],
                          const void *plain, void *scratch);
size_t fbp_chunk_packed_bytes(const struct fbp_chunked *c);

/** Remove the plain file of a packed chunk. */
void fbp_chunk_drop(const struct fbp_sink *s, size_t level, const size_t k[3]);

#endif /* FBP_SRC_ARRAY_CHUNKED_H */
