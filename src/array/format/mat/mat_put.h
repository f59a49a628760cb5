/** @file mat_put.h  MAT files of version 5 put together in memory, up to the samples (internal).
 *
 * Source: MathWorks, "MAT-File Format", level 5.
 */
#ifndef FBP_SRC_MAT_PUT_H
#define FBP_SRC_MAT_PUT_H

#include "array/file/format.h"

/** Variables of a volume's file: the volume, unless it has another name; FBP_MAT_XYZ in
 * FBP_MAT_AXES if it is vol(x, y, z); spacing and position of its first voxel (mm); scale and
 * offset of integers. */
#define FBP_MAT_VOLUME  "mat_recFXD"
#define FBP_MAT_AXES    "axes"
#define FBP_MAT_XYZ     "x:y:z"
#define FBP_MAT_UNIT    "unit"
#define FBP_MAT_HISTORY "history"
#define FBP_MAT_VOXEL   "voxel_mm"
#define FBP_MAT_ORIGIN  "origin_mm"
#define FBP_MAT_SCALE   "scale_factor"
#define FBP_MAT_OFFSET  "add_offset"

/** How volumes are written (mat_write.c). */
extern const struct fbp_sink_format fbp_mat_files[];

/** Bytes that grow no further than their room; what is put is known to fit. */
struct fbp_mat_maker {
    unsigned char *bytes;
    size_t n;
};

/** Room beside doubles: all that is put in a file, with their names and tags. */
enum { FBP_MAT_ROOM = 4096 };

/** The header of a file, with room for `doubles` numbers; free(bytes). */
fbp_status fbp_mat_begin(struct fbp_mat_maker *m, size_t doubles);

/** A matrix by columns; a list of n is 1 x n. */
void fbp_mat_put_doubles(struct fbp_mat_maker *m, const char *name, const double *v, size_t rows,
                         size_t columns);
void fbp_mat_put_text(struct fbp_mat_maker *m, const char *name, const char *text);

/** A struct of one element, whose n fields follow as arrays without names, then its end; *start
 *  belongs to the two. */
void fbp_mat_begin_struct(struct fbp_mat_maker *m, const char *name, const char *const *fields,
                          size_t n, size_t *start);
void fbp_mat_end_struct(struct fbp_mat_maker *m, size_t start);

/** The array of the samples, which come last: `bytes` of them, then out->tail_bytes.  out takes the
 *  maker's bytes over. */
void fbp_mat_end(struct fbp_mat_maker *m, const char *name, enum fbp_type type, const size_t *sizes,
                 size_t rank, uint64_t bytes, struct fbp_layout *out);

/** Bytes of an array that such a file can hold; FBP_ERR_INVALID if there are too many.  instead:
 * what to write then, for the message. */
fbp_status fbp_mat_check_size(const char *path, const struct fbp_array_info *info,
                              const char *instead, uint64_t *bytes);

/** A file is replaced as a whole: FBP_ERR_INVALID where another program's variables would be lost.
 */
fbp_status fbp_mat_spare_others(const char *path, const char *file);

#endif /* FBP_SRC_MAT_PUT_H */
