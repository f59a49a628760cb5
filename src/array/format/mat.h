/** @file mat.h  Reader (mat5.c) and writer (mat.c) of MATLAB files of versions 5 to 7 (internal).
 *
 * Included by mat.c, mat5.c and the readers and writers of EPR scans in scan/format/. Files of
 * version 7.3 are HDF5. fbp_mat_open() checks the whole file: every variable is complete, every
 * compressed variable inflates with the correct checksum, and every array has as many values as its
 * sizes state. It lists the variables without their values. fbp_mat_read() reads one variable with
 * its values.
 *
 * Full arrays of numbers and text are read, and the members of structs of one element. Cells,
 * struct arrays, sparse arrays, objects and function handles are listed without their contents.
 *
 * Source: MathWorks, "MAT-File Format", level 5.
 */
#ifndef FBP_SRC_ARRAY_FORMAT_MAT_H
#define FBP_SRC_ARRAY_FORMAT_MAT_H

#include "array/file/format.h"

/** Types of stored elements, and classes of arrays, by their numbers in files. */
enum {
    FBP_MI_INT8 = 1,
    FBP_MI_UINT8,
    FBP_MI_INT16,
    FBP_MI_UINT16,
    FBP_MI_INT32,
    FBP_MI_UINT32,
    FBP_MI_SINGLE,
    FBP_MI_DOUBLE = 9,
    FBP_MI_INT64 = 12,
    FBP_MI_UINT64,
    FBP_MI_MATRIX,
    FBP_MI_COMPRESSED,
    FBP_MI_UTF8,
    FBP_MI_UTF16,
    FBP_MI_UTF32
};
enum {
    FBP_MX_CELL = 1,
    FBP_MX_STRUCT,
    FBP_MX_OBJECT,
    FBP_MX_CHAR,
    FBP_MX_SPARSE,
    FBP_MX_DOUBLE,
    FBP_MX_SINGLE,
    FBP_MX_INT8,
    FBP_MX_UINT8,
    FBP_MX_INT16,
    FBP_MX_UINT16,
    FBP_MX_INT32,
    FBP_MX_UINT32,
    FBP_MX_INT64,
    FBP_MX_UINT64,
    FBP_MX_FUNCTION,
    FBP_MX_OPAQUE
};

enum { FBP_MAT_NAME = 64, FBP_MAT_RANK = 32 };

/** A variable of a file, or a member of a struct. */
struct fbp_mat_array {
    char name[FBP_MAT_NAME];
    unsigned class; /**< FBP_MX_*; 0: empty, without a class */
    bool complex;
    size_t rank, sizes[FBP_MAT_RANK];
    uint64_t count; /**< number of elements; UINT64_MAX: too many */
    /** Values by columns in this machine's byte order, as the class has them, text as uint16;
     *  NULL: none, or not read. */
    void *real, *imaginary;
    /** Members of a struct of one element. */
    struct fbp_mat_array *fields;
    size_t n_fields;
};

struct fbp_mat;

/** Does a file start like a MATLAB file of version 5 to 7? */
bool fbp_mat_detect(const char *path, const unsigned char *head, size_t n);

/** Is it a MAT file of version 7.3, which is HDF5 behind a line of text? */
fbp_status fbp_mat_is_hdf5(const char *path, bool *is);

/** Check a file and list its variables; path stays valid while it is open. */
fbp_status fbp_mat_open(const char *path, struct fbp_mat **out);

/** May be called for NULL. */
void fbp_mat_close(struct fbp_mat *mat);

/** All variables, without values. */
const struct fbp_mat_array *fbp_mat_list(const struct fbp_mat *mat, size_t *n);

/** A variable or member, such as "ct.sinogram", without values; NULL if there is none. */
const struct fbp_mat_array *fbp_mat_find(const struct fbp_mat *mat, const char *member);

/** Read a variable or member with its values; *out NULL if there is none.  fbp_mat_free(). */
fbp_status fbp_mat_read(struct fbp_mat *mat, const char *member, struct fbp_mat_array **out);

/** May be called for NULL. */
void fbp_mat_free(struct fbp_mat_array *array);

/** A member of a struct of one element; NULL if there is none.  parent may be NULL. */
const struct fbp_mat_array *fbp_mat_field(const struct fbp_mat_array *parent, const char *name);

/** Type of an array's elements, or of their real parts; FBP_TYPE_NONE: not full numbers of at most
 *  32 bits or floats. */
enum fbp_type fbp_mat_type(const struct fbp_mat_array *array);

/** Element i of an array that has values; NAN if its class holds no numbers. */
double fbp_mat_element(const struct fbp_mat_array *array, size_t i);

/** Elements of an array of real numbers as doubles; FBP_ERR_INVALID if it holds none.  path, name:
 *  for messages.  free(*out). */
fbp_status fbp_mat_numbers(const char *path, const char *name, const struct fbp_mat_array *array,
                           double **out, size_t *n);

/** Text of an array; "" if it is not text.  array may be NULL. */
void fbp_mat_text_of(const struct fbp_mat_array *array, char *out, size_t n);

/** Read n doubles of a variable; *found: it holds just these. */
fbp_status fbp_mat_doubles(struct fbp_mat *mat, const char *name, double *out, size_t n,
                           bool *found);

/** Read the text of a variable; "" if there is none. */
fbp_status fbp_mat_text(struct fbp_mat *mat, const char *name, char *out, size_t n);

/* ---- writer (mat.c): a file of version 5 is put together in memory, up to the samples */

/** Variables of a volume's file: the volume, unless it has another name; FBP_MAT_XYZ in
 * FBP_MAT_AXES for vol(x, y, z); spacing and position of its first voxel (mm); scale and offset of
 * integers. */
#define FBP_MAT_VOLUME  "mat_recFXD"
#define FBP_MAT_AXES    "axes"
#define FBP_MAT_XYZ     "x:y:z"
#define FBP_MAT_UNIT    "unit"
#define FBP_MAT_HISTORY "history"
#define FBP_MAT_VOXEL   "voxel_mm"
#define FBP_MAT_ORIGIN  "origin_mm"
#define FBP_MAT_SCALE   "scale_factor"
#define FBP_MAT_OFFSET  "add_offset"

/** Buffer of fixed size: everything that is put is known to fit. */
struct fbp_mat_maker {
    unsigned char *bytes;
    size_t n;
};

/** Put the header of a file, with room for `doubles` numbers; free(bytes). */
fbp_status fbp_mat_begin(struct fbp_mat_maker *m, size_t doubles);

/** Put a matrix by columns; a list of n is 1 x n. */
void fbp_mat_put_doubles(struct fbp_mat_maker *m, const char *name, const double *v, size_t rows,
                         size_t columns);
void fbp_mat_put_text(struct fbp_mat_maker *m, const char *name, const char *text);

/** Put the array of the samples, which come last: `bytes` of them, then out->tail_bytes.  out takes
 *  over the maker's bytes. */
void fbp_mat_end(struct fbp_mat_maker *m, const char *name, enum fbp_type type, const size_t *sizes,
                 size_t rank, uint64_t bytes, struct fbp_layout *out);

/** Bytes of an array; FBP_ERR_INVALID if such a file cannot hold them.  instead: the format to
 * write then, for the message. */
fbp_status fbp_mat_check_size(const char *path, const struct fbp_array_info *info,
                              const char *instead, uint64_t *bytes);

/** Check an output: a file is replaced as a whole.  FBP_ERR_INVALID if another program's variables
 *  would be lost. */
fbp_status fbp_mat_spare_others(const char *path, const char *file);

#endif /* FBP_SRC_ARRAY_FORMAT_MAT_H */
