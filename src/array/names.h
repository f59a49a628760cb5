/** @file names.h  Lists of the files that the name of an array describes: one file, a folder of
 * views or slices, a shell pattern such as "views/p_*.tif", or a pattern with two numbers
 * (internal; names.c, numbered.c). Sources open these files, readers of scans count and number
 * them, and sinks check that no output replaces one of them.
 * Used by: bench/, cli/, array/, pipeline/, prep/, scan/. */
#ifndef FBP_SRC_ARRAY_NAMES_H
#define FBP_SRC_ARRAY_NAMES_H

#include "array/file/format.h"
#include "fbp/array.h"

/* numbered.c: the numbers in the names of files, which determine their order */

/** Numbers in the names of sorted files; all 0 if the names differ in more than numbers. */
struct fbp_numbering {
    bool counted; /**< One number differs in all names, and determines the order of the files. */
    /** [n] index of each file in the sequence of numbers, from 0; missing files are counted, too.
     * NULL: no number is missing, or the numbers do not count the files */
    size_t *places;
    char gaps[200]; /**< message about missing numbers; "": no number is missing */
    /** end of a note, ", ordered by number 017", if several numbers change; else "" */
    char order[40];
    size_t n_columns; /**< how many numbers in each name change from file to file */
    double *columns;  /**< [n_columns][n] values of the numbers that change */
    int digits[8];    /**< decimals of the numbers in each column */
    size_t counter;   /**< row of `columns` that determines the order, if `counted` */
};

/**
 * Sort the paths of n files by the number that counts them. Numbers may have a sign and decimals; a
 * date with its time is one number. If several numbers change, the order is that of one which
 * differs in all names, preferably in steps of 1; otherwise that of all numbers in turn.
 *
 * where  folder, for messages
 * @return FBP_ERR_INVALID if two numbers may count the files and their orders differ; FBP_ERR_NOMEM
 */
fbp_status fbp_number_files(char **paths, size_t n, const char *where, struct fbp_numbering *out);
void fbp_numbering_clear(struct fbp_numbering *numbering);

/** Copy the name of a file to out[256] with '#' in place of each number. */
void fbp_number_skeleton(const char *name, char *out);

/* names.c: files of a folder, a shell pattern, or a pattern with two numbers */

struct fbp_file_names {
    struct fbp_pattern pattern;
    char **list; /**< paths of the files of a folder or a shell pattern; NULL: the files are given
                    by `pattern` */
    size_t n;
    struct fbp_numbering numbering; /**< numbering of a folder's files */
    char note[300]; /**< sentence about the files of a folder that were chosen; "": files of a
                       pattern */
};

/**
 * List the files of a pattern or a folder; the result keeps a pointer to `path`. "views/p_*.tif"
 * counts as a folder if no file has this name. A folder is read as files of its most frequent
 * format, in the order of fbp_number_files(), without hidden files and folders.
 *
 * raw: if a folder has no file of a known format, its files are read as headerless files
 */
fbp_status fbp_names_open(struct fbp_file_names *out, const char *path, bool raw);
/** malloc'ed path of file k of a list of files; NULL when out of memory. */
char *fbp_names_get(const struct fbp_file_names *names, size_t k);
void fbp_names_close(struct fbp_file_names *names);

/** Whether the name is a folder of files, a shell pattern such as "views/p_*.tif", or a pattern
 * with its first and last number, such as "views/%04d.mha 1 360" (%d, or %0Nd, padded with zeros to
 * N digits). */
bool fbp_names_many_files(const char *path);

/** Number of files of a pattern such as "views/%04d.mha 1 360"; 0: none, or no pattern. */
size_t fbp_stack_count(const char *pattern);

/** malloc'ed name of file k of a pattern "views/%04d.mha 1 360"; NULL: none, or out of memory. */
char *fbp_stack_name(const char *pattern, size_t k);

/** Get the numbers in the names of the *n files of a folder; for other names, *n and *out are 0.
 * raw: the files have no headers. Free *out by fbp_numbering_clear(). */
fbp_status fbp_stack_numbering(const char *path, bool raw, struct fbp_numbering *out, size_t *n);

/** Iterator over the files that the name of an array describes (one file, a folder, or a pattern),
 * whether the files exist or not. Before the first call, set .path, all other members to 0, and the
 * status to FBP_OK. */
struct fbp_files {
    const char *path;
    bool stop; /**< set by the loop body to end the loop */
    bool begun, stack;
    struct fbp_file_names names;
    size_t k;   /**< index of the file that comes next */
    char *file; /**< name of the file that was returned last */
};

/** Get the next file of the iterator. NULL: no more files, or *st is an error, which the loop body
 * may also set. A folder that cannot be listed is an error, because its files could be overwritten.
 * The loop must run until NULL, which frees the iterator. */
const char *fbp_files_next(struct fbp_files *files, fbp_status *st);

/** Whether a new file of the name `file` would later be read as one of the files of the folder or
 * pattern `path`, or change which files are chosen. `file` may be the pattern of an output. */
fbp_status fbp_stack_joins(const char *path, const char *file, bool *out);

/** Add sizes, times and names (without folders) of a file, or of all files of a folder or pattern,
 * to the hash *h; a missing file also changes the hash. */
fbp_status fbp_stack_hash(uint64_t *h, const char *path);

/** Record the states of all files of an array for fbp_file_states_check(). Stops at a missing file
 * with FBP_OK, because that file is reported when the array is opened. */
fbp_status fbp_watch_array(struct fbp_file_states *watch, const char *array);

/* names.c: outputs compared with inputs */

/** Add names, sizes and times of the files of all inputs to the hash *h. */
fbp_status fbp_inputs_hash(uint64_t *h, const struct fbp_inputs *inputs);

/** Whether writing `file` would replace `input` or one of its files: the same name, or the same
 * device and inode, or `file` is a folder that contains the input. */
fbp_status fbp_input_has(const char *input, const char *file, bool *is);

/** Whether writing `file` would replace `input` or one of its files, or, if `input` is a folder or
 * a pattern, add a file to it. */
fbp_status fbp_input_is(const char *input, const char *file, bool *is);

/** Append the names of all files of an array to a list of inputs. The array is opened to find them;
 * if opening fails, only its name is appended. path NULL: nothing is appended. */
fbp_status fbp_inputs_add_array(struct fbp_inputs *inputs, const char *path,
                                const struct fbp_raw *raw);

/** Function that appends all files that a run reads, including files that headers and scan files
 * refer to. */
typedef fbp_status fbp_all_inputs_fn(struct fbp_inputs *all, const void *user);

/** Whether writing an output of this name would replace input files, or be read as one of them.
 * Names are compared first; `add_all`, which opens arrays, is called only if files of the output
 * exist. True also if an error, with a message, prevents the check. */
bool fbp_inputs_hit(const struct fbp_inputs *named, fbp_all_inputs_fn *add_all, const void *user,
                    const char *output);

/** Whether `file` is an input file of the array `array`, or writing it would add a file to the
 * array: then it must not be written. `array` may be any other input file, too. True also if an
 * error, with a message, prevents the check. */
bool fbp_array_reads(const char *array, const char *file);

#endif /* FBP_SRC_ARRAY_NAMES_H */
