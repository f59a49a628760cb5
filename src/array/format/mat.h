/** @file mat.h  Reader of MATLAB files of versions 5 to 7 (mat5.c), and writer of version 5 (mat.c)
 * (internal).
 *
 * Files of version 7.3 are HDF5. fbp_mat_open() checks the whole file: every variable is complete,
 * every compressed variable inflates with the correct checksum, and every full array has as many
 * values as its sizes state. It lists the variables without their values. fbp_mat_read() reads one
 * variable with its values.
 *
 * Full arrays of numbers and text are read, and the members of structs of one element. Cells,
 * struct arrays, sparse arrays, objects and function handles are listed without their contents.
 *
 * Source: MathWorks, "MAT-File Format", level 5.
 * Used by: array/format/, scan/format/.
 */
#ifndef FBP_SRC_ARRAY_FORMAT_MAT_H
#define FBP_SRC_ARRAY_FORMAT_MAT_H

#include "array/file/format.h"

/** Numbers of data types (MI) and of array classes (MX) in MATLAB files. */
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

/** A variable of a MATLAB file, or a member of a struct. */
struct fbp_mat_array {
    char name[FBP_MAT_NAME];
    unsigned class; /**< FBP_MX_*; 0: empty, without a class */
    bool complex;
    size_t rank, sizes[FBP_MAT_RANK];
    uint64_t count; /**< number of elements; UINT64_MAX: too many */
    /** Values of the array column by column, in native byte order and in the type of its class;
     * text as uint16. NULL: the array has no values, or they were not read. */
    void *real, *imaginary;
    /** Members of a struct of one element. */
    struct fbp_mat_array *fields;
    size_t n_fields;
};

struct fbp_mat;

/** Whether a file begins like a MATLAB file of versions 5 to 7. */
bool fbp_mat_detect(const char *path, const unsigned char *head, size_t n);

/** Find whether a file is a MATLAB file of version 7.3: a line of text, then an HDF5 file. */
fbp_status fbp_mat_is_hdf5(const char *path, bool *is);

/** Open a MATLAB file, check it, and list its variables. The text `path` must stay valid until
 * fbp_mat_close(). */
fbp_status fbp_mat_open(const char *path, struct fbp_mat **out);

/** May be called for NULL. */
void fbp_mat_close(struct fbp_mat *mat);

/** All variables, without values. */
const struct fbp_mat_array *fbp_mat_list(const struct fbp_mat *mat, size_t *n);

/** Find a variable, or a member of a struct such as "ct.sinogram", without its values; NULL: it
 * does not exist. */
const struct fbp_mat_array *fbp_mat_find(const struct fbp_mat *mat, const char *member);

/** Read a variable, or a member of a struct, with its values; *out NULL: it does not exist. The
 * caller frees *out by fbp_mat_free(). */
fbp_status fbp_mat_read(struct fbp_mat *mat, const char *member, struct fbp_mat_array **out);

/** May be called for NULL. */
void fbp_mat_free(struct fbp_mat_array *array);

/** Find a member of a struct of one element; NULL: no such member, or parent is NULL. */
const struct fbp_mat_array *fbp_mat_field(const struct fbp_mat_array *parent, const char *name);

/** Sample type of the elements of an array, of their real parts if it is complex; FBP_TYPE_NONE: a
 * sparse array, text, integers of more than 32 bits, or no numbers. */
enum fbp_type fbp_mat_type(const struct fbp_mat_array *array);

/** Element i (its real part) of an array whose values were read; NAN: no number. */
double fbp_mat_element(const struct fbp_mat_array *array, size_t i);

/** Get the elements of an array of real numbers as doubles; FBP_ERR_INVALID if the array is not
 * one. path, name: for messages. The caller frees *out. */
fbp_status fbp_mat_numbers(const char *path, const char *name, const struct fbp_mat_array *array,
                           double **out, size_t *n);

/** Print the text of an array to out[n]; "" if the array is not text or is NULL. */
void fbp_mat_text_of(const struct fbp_mat_array *array, char *out, size_t n);

/** Read a variable of n doubles; *found: it exists, with class double and n real numbers. */
fbp_status fbp_mat_doubles(struct fbp_mat *mat, const char *name, double *out, size_t n,
                           bool *found);

/** Read the text of a variable to out[n]; "" if there is no such variable. */
fbp_status fbp_mat_text(struct fbp_mat *mat, const char *name, char *out, size_t n);

/* writer of MATLAB files of version 5 (mat.c): a file is built in memory, up to its samples */

/** Names of the variables in a volume's file: the volume (unless the output names it), the order of
 * its axes (FBP_MAT_XYZ for vol(x, y, z)), unit and history, spacing and position of its first
 * voxel [mm], scale and offset of integers. */
#define FBP_MAT_VOLUME  "mat_recFXD"
#define FBP_MAT_AXES    "axes"
#define FBP_MAT_XYZ     "x:y:z"
#define FBP_MAT_UNIT    "unit"
#define FBP_MAT_HISTORY "history"
#define FBP_MAT_VOXEL   "voxel_mm"
#define FBP_MAT_ORIGIN  "origin_mm"
#define FBP_MAT_SCALE   "scale_factor"
#define FBP_MAT_OFFSET  "add_offset"

/** A MATLAB file that is being built in memory, up to its samples. The size of the buffer is fixed;
 * the functions do not check it. */
struct fbp_mat_maker {
    unsigned char *bytes;
    size_t n;
};

/** Begin a MATLAB file: write its header to a buffer with space for `doubles` numbers.
 * fbp_mat_end() passes the buffer to its *out. */
fbp_status fbp_mat_begin(struct fbp_mat_maker *m, size_t doubles);

/** Append a matrix of doubles, given column by column; rows 1: a row vector. */
void fbp_mat_put_doubles(struct fbp_mat_maker *m, const char *name, const double *v, size_t rows,
                         size_t columns);
void fbp_mat_put_text(struct fbp_mat_maker *m, const char *name, const char *text);

/** Append the beginning of the array of samples to a MATLAB file in memory. `bytes` bytes of
 * samples and out->tail_bytes zeros follow later in the file. *out takes over the buffer of `m`. */
void fbp_mat_end(struct fbp_mat_maker *m, const char *name, enum fbp_type type, const size_t *sizes,
                 size_t rank, uint64_t bytes, struct fbp_layout *out);

/** Compute the size of an array's samples [bytes]; FBP_ERR_INVALID if a MATLAB file of version 5
 * cannot contain them (2 GiB or more). instead: format that the message recommends. */
fbp_status fbp_mat_check_size(const char *path, const struct fbp_array_info *info,
                              const char *instead, uint64_t *bytes);

/** Refuse to replace a MATLAB file that another program has written: FBP_ERR_INVALID. */
fbp_status fbp_mat_spare_others(const char *path, const char *file);

#endif /* FBP_SRC_ARRAY_FORMAT_MAT_H */
