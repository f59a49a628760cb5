/** @file folder.h Discovery of scans: the files of a folder, their roles, and the scan file that
 * `fbp init` writes for them (internal). The commands of fbp find the scan file of a folder by
 * fbp_folder_scan().
 * Used by: cli/, scan/folder/. */
#ifndef FBP_SRC_SCAN_FOLDER_FOLDER_H
#define FBP_SRC_SCAN_FOLDER_FOLDER_H

#include "fbp/folder.h"

#include "array/names.h"
#include "base/base.h"

#include <cjson/cJSON.h>

/** A single file, or a series of files whose names differ by a number. */
struct fbp_init_series {
    char *path;   /**< path of the first file */
    char *before; /**< part of the path before the number */
    char *after;  /**< part of the path after the number; "": no number */
    /** Number of digits of the numbers in the file names; 0: not the same in all names, or no
     * number. */
    int digits;
    /** First and last number in the names of the files; equal: a single file. */
    size_t first, last;
    size_t missing; /**< number of files after a gap in the numbers, which are left out */
    char *glob; /**< pattern of all names, "p_[0-9]*.tif"; NULL: names are before, number, after */
    struct fbp_numbering order; /**< order of the files of the glob */
    uint64_t bytes;             /**< size of the first file */
    /** Description of the array of all files of the series; n[2] == 0: not a readable array. */
    struct fbp_array_info info;
    bool volume; /**< true: the values are in 1/mm or HU: a reconstructed volume */
    /** Reason why a file with an array's extension cannot be read; NULL: none. */
    char *why;
};

enum fbp_init_role {
    FBP_INIT_PROJECTIONS,
    FBP_INIT_DARK,
    FBP_INIT_FLAT,
    FBP_INIT_BAD,
    FBP_INIT_ANGLES,
    FBP_INIT_VOLUME, /**< slices of a volume; not used */
    FBP_INIT_ROLES
};

/** Files of a folder and of its direct subfolders, as series of numbered files or single files. */
struct fbp_init_folder {
    const char *path;
    size_t n;
    struct fbp_init_series *series;
};

/** Series of each role; NULL: none. */
struct fbp_init_found {
    const struct fbp_init_series *of[FBP_INIT_ROLES];
};

/** State of one search of a folder, in one thread: the caller's log, and failures. */
struct fbp_init_state {
    fbp_log_fn *log;
    void *user;
    /** Whether a file that could not be read may be a scan file: of fbp (lost_own), or of another
     * program (lost_foreign), which does not matter if a scan file of fbp is found. */
    bool lost_own, lost_foreign;
    bool lost_memory;  /**< true: a file was skipped because memory was insufficient */
    char unread[1200]; /**< reason why the first unreadable file could not be opened; "": none */
};

/* folder_list.c: listing and opening of files */

/** State of the search in this thread. */
extern _Thread_local struct fbp_init_state *fbp_init_now;

/** Write a note or a warning to the log of the search in this thread. */
void fbp_init_log(enum fbp_log_level level, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/** List the files of a folder and of its direct subfolders as series (numbered files, or single
 * files), and read the headers of their arrays. Free *out by fbp_init_clear(). */
fbp_status fbp_init_list(const char *path, struct fbp_init_folder *out);
void fbp_init_clear(struct fbp_init_folder *folder);

/** Record the failure of opening a file: FBP_ERR_NOMEM sets lost_memory, FBP_ERR_IO is logged as a
 * warning; after other failures the file counts as no scan or array, and is ignored. */
void fbp_init_failed(fbp_status st);

/** Return true if st is FBP_OK; else record the failure by fbp_init_failed().  Inline, because
 * static analyzers then see the result. */
static inline bool fbp_init_tried(fbp_status st)
{
    if (st != FBP_OK)
        fbp_init_failed(st);
    return st == FBP_OK;
}

/** Record that a file that may be a scan, or its projections, could not be read. */
void fbp_init_lost_scan(const char *path);

/** Get the name of a series of files for fbp_source_open(): the path of one file, a pattern such as
 * "p_%04d.tif 1 360", or a glob.  Free the name with free(). */
char *fbp_init_pattern(const struct fbp_init_series *series);

/* folder_scan.c: roles and whole scans */

/** True if the text contains the word, in upper or lower case; alone: only if no letter precedes or
 * follows the word. */
bool fbp_init_has_word(const char *text, const char *word, bool alone);

/** Return the part of a path after the folder's path: the name of the folder itself does not
 * determine roles of files. */
const char *fbp_init_inside(const struct fbp_init_folder *folder, const char *path);

/** Get the role of a series of files (projections, darks, flats …) from words in the names of files
 * and folder, such as flats, white_0001, df. */
enum fbp_init_role fbp_init_role_of(const struct fbp_init_folder *folder,
                                    const struct fbp_init_series *s);

/** Assign roles (projections, darks, flats …) to the series of a folder.  The projections are the
 * largest array whose name suggests no other role; arrays with the same panel (angles: one number
 * per view) get roles by their names. */
void fbp_init_assign(const struct fbp_init_folder *folder, struct fbp_init_found *out);

/** True if the file of a series describes a whole scan, of fbp or of another program, whose
 * projections can be opened. projections: the series of the projections in the folder, NULL: none;
 * if there is one, other files are only read if they have the extension of a scan file. */
bool fbp_init_is_whole_scan(const struct fbp_init_series *s,
                            const struct fbp_init_series *projections);

/** Fail with the reason why no projections were found. */
fbp_status fbp_init_no_projections(const struct fbp_init_folder *folder);

/* folder_guess.c: the scan file */

/** Make the JSON of a scan file for a folder; free *out by cJSON_Delete(). */
fbp_status fbp_init_write(cJSON **out, const struct fbp_init_folder *folder,
                          const struct fbp_folder_known *known);

/**
 * Find the scan file in a folder or in a subfolder.  A scan file of fbp is preferred to a file of
 * another program.
 *
 * @param[out] path   path of the file, free with free(); NULL, with FBP_OK, if `folder` is not a
 *                    folder
 * @param      known  only `log` and `user` are used; may be NULL
 * @return FBP_ERR_INVALID: no scan file (the message lists the contents and a remedy), or several;
 *         FBP_ERR_IO, FBP_ERR_NOMEM.
 */
fbp_status fbp_folder_scan(char **path, const char *folder, const struct fbp_folder_known *known);

/**
 * Guess a scan file, as text, for a folder without one. Projections are the largest array or series
 * of numbered files; darks, flats, bad pixels and angles are recognized by their names, and a
 * geometry file by its number of views. The text has a comment before the key of each guess, and
 * lists assumptions in "assumed".
 *
 * @param[out] text  JSON, free with free()
 * @return FBP_ERR_INVALID: the folder has no projections, or already has a scan file; FBP_ERR_IO,
 *         FBP_ERR_NOMEM.
 */
fbp_status fbp_folder_guess(char **text, const char *folder, const struct fbp_folder_known *known);

#endif /* FBP_SRC_SCAN_FOLDER_FOLDER_H */
