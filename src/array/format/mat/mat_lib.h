/** @file mat_lib.h  What is asked of matio, in children only (base/contain.h) (internal). */
#ifndef FBP_SRC_MAT_LIB_H
#define FBP_SRC_MAT_LIB_H

#include "array/file/format.h"
#include "base/contain.h"

#include <matio.h>

#define FBP_MAT_NAME "the MAT library"

/** Variables of a volume's file: the volume itself, unless it has another name; FBP_MAT_XYZ in
 *  FBP_MAT_AXES says that it is vol(x, y, z); spacing and place of its first voxel (mm); and, of
 *  integers, scale and offset. */
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

/** Does a file start like a MATLAB file of version 5 to 7?  (7.3 is HDF5.) */
bool fbp_mat_detect(const char *path, const unsigned char *head, size_t n);

/** What a child may take for this file. */
struct fbp_child_limits fbp_mat_limits(const char *file);

/** Variables of a file, as it is read without matio. */
enum { FBP_MAT_NAME_ROOM = 64 };
struct fbp_mat_list {
    struct fbp_mat_known {
        char name[FBP_MAT_NAME_ROOM];
        uint64_t print; /**< of its contents (mat_print.h), if `prints` */
    } * v;              /**< free() */
    size_t n, room;
    bool prints; /**< asked for: all values are read */
    bool odd;    /**< found: some are of classes that matio may stop at */
};

/** Is every variable there, and every compressed one as its checksum says?  And which are there. */
fbp_status fbp_mat_check(const char *file, struct fbp_mat_list *list);

/** fbp_contain(); what the library does not find where memory ended or the system could not read is
 *  an error, whatever `fn` made of it. */
fbp_status fbp_mat_contain(const char *path, const struct fbp_child_limits *limits,
                           fbp_contained_fn *fn, void *arg, struct fbp_blob *reply);

/** fbp_mat_contain() of a function that gets the path, with fbp_mat_limits(). */
fbp_status fbp_mat_ask(const char *path, fbp_contained_fn *fn, struct fbp_blob *reply);

/** Is it a MAT file of which `fn`, in a child that gets the path, replies one byte that is not 0?
 *  *is stays as it is where the head says that it is none. */
fbp_status fbp_mat_look(const char *path, const unsigned char *head, size_t n, fbp_contained_fn *fn,
                        bool *is);

/** Check, and open for reading; Mat_Close().  One file at a time in a child.  What matio loses of
 * it is an error of fbp_mat_contain() from here on, where it is read by the next three. */
fbp_status fbp_mat_open(const char *file, mat_t **out);

/** The same of a file of which no values will be read. */
fbp_status fbp_mat_open_to_look(const char *file, mat_t **out);

/** Open for reading what is of no version that can be checked. */
fbp_status fbp_mat_open_unchecked(const char *file, mat_t **out);

/** The next variable without its values, NULL behind the last; from the first on again.
 *  Mat_VarFree(). */
matvar_t *fbp_mat_next(mat_t *mat);
void fbp_mat_rewind(mat_t *mat);

/** A variable with its values, by its name; NULL: there is none.  Mat_VarFree(). */
matvar_t *fbp_mat_read(mat_t *mat, const char *name);

/** The variable or field of a name such as "ct.sinogram", with its values; NULL: there is none.
 *  Belongs to *top, which Mat_VarFree() frees. */
matvar_t *fbp_mat_find(mat_t *mat, const char *member, matvar_t **top);

/** A field of a struct of one element; NULL. */
matvar_t *fbp_mat_field(matvar_t *parent, const char *name);

/** "FILE: has no array X: did you mean Y?  It has …"; member NULL: one must be named. */
fbp_status fbp_mat_missing(mat_t *mat, const char *file, const char *member);

/** The only array of numbers of a file, its name in out; FBP_ERR_INVALID if there are several. */
fbp_status fbp_mat_only(mat_t *mat, const char *file, char *out, size_t n);

/** Elements of an array of numbers as doubles; FBP_ERR_INVALID if it holds none.  free() them. */
fbp_status fbp_mat_numbers(const char *path, const char *name, const matvar_t *v, double **out,
                           size_t *n);

/** n doubles of a variable; false: it is something else, or is not there. */
bool fbp_mat_doubles(mat_t *mat, const char *name, double *out, size_t n);

/** A short text, as char or in MATLAB's 16 bits; "" if there is none. */
void fbp_mat_text(mat_t *mat, const char *name, char *out, size_t n);

/** Element i, by columns, of an array that has it; NAN for classes that hold no numbers. */
double fbp_mat_element(const matvar_t *v, size_t i);

/** Element type; FBP_TYPE_NONE: no real numbers, or integers of 64 bits. */
enum fbp_type fbp_mat_type(const matvar_t *v);

/** The same of its real and imaginary parts, if it is complex; and where the real ones are. */
enum fbp_type fbp_mat_type_of_parts(const matvar_t *v);
const void *fbp_mat_real(const matvar_t *v);

#endif /* FBP_SRC_MAT_LIB_H */
