/** @file folder.h  Discovery of scans: the files of a folder, their roles, and the scan file that
 * fbp init makes of them (internal).
 */
#ifndef FBP_SRC_SCAN_FOLDER_FOLDER_H
#define FBP_SRC_SCAN_FOLDER_FOLDER_H

#include "fbp/folder.h"

#include "array/names.h"
#include "base/base.h"

#include <cjson/cJSON.h>

/** A single file, or files whose names differ by a number. */
struct fbp_init_series {
    char *path;                 /**< of the first file */
    char *before;               /**< path up to the number */
    char *after;                /**< path behind the number; "" of a single file */
    int digits;                 /**< of the number with leading zeros; 0: no zeros before it */
    size_t first, last;         /**< numbers; a single file: both 0 */
    size_t missing;             /**< number of files left out behind a gap in the numbers */
    char *glob;                 /**< name of all files, "p_[0-9]*.tif"; NULL: before and after */
    struct fbp_numbering order; /**< order of the files of the glob */
    uint64_t bytes;             /**< of the first file */
    struct fbp_array_info info; /**< of all together; n[2] == 0: no array that can be read */
    bool volume;                /**< true: values in 1/mm or HU */
    char *why; /**< reason why a file with the name of an array cannot be read; NULL: none */
};

enum fbp_init_role {
    FBP_INIT_PROJECTIONS,
    FBP_INIT_DARK,
    FBP_INIT_FLAT,
    FBP_INIT_BAD,
    FBP_INIT_ANGLES,
    FBP_INIT_VOLUME, /**< slices of a volume, which are not used */
    FBP_INIT_ROLES
};

/** All series of a folder and of the folders in it. */
struct fbp_init_folder {
    const char *path;
    size_t n;
    struct fbp_init_series *series;
};

/** The series of each role; NULL: none. */
struct fbp_init_found {
    const struct fbp_init_series *of[FBP_INIT_ROLES];
};

/** Messages and failures of one search. */
struct fbp_init_state {
    fbp_log_fn *log;
    void *user;
    bool lost_own, lost_foreign; /**< scan files of fbp, of other programs, that cannot be read */
    bool lost_memory;            /**< a file was skipped for lack of memory */
    char unread[1200];           /**< why the first unreadable file cannot be opened; "": none */
};

/* Listing and opening files (folder_list.c). */

/** Set the state of this thread; returns the one before. */
struct fbp_init_state *fbp_init_begin(struct fbp_init_state *next);
/** Pass a line to the log. */
void fbp_init_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void fbp_init_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** List the series of a folder and open their arrays.  Free by fbp_init_clear(). */
fbp_status fbp_init_list(const char *path, struct fbp_init_folder *out);
void fbp_init_clear(struct fbp_init_folder *folder);

/** Record that a file could not be opened: warns if it cannot be read. */
void fbp_init_failed(fbp_status st);

/** Did opening a file, which may have any contents, succeed?  Inline for static analysers. */
static inline bool fbp_init_tried(fbp_status st)
{
    if (st != FBP_OK)
        fbp_init_failed(st);
    return st == FBP_OK;
}

/** FBP_ERR_IO if a file or folder could not be opened. */
fbp_status fbp_init_check_read(void);

/** False after memory was missing: files may have been overlooked. */
bool fbp_init_is_complete(void);

/** Record that a file that may be a scan, or its projections, cannot be read. */
void fbp_init_lost_scan(const char *path);

/** False after that: the requested scan may be one of those.  own: a scan file of fbp was found,
 * and files of other programs do not matter. */
bool fbp_init_has_scans(bool own);

/** "path" of one file, the pattern "before%04dafter first last", or the glob; free(). */
char *fbp_init_pattern(const struct fbp_init_series *series);

/* Roles and whole scans (folder_scan.c). */

/** Does the text contain the word?  alone: only between characters that are no letters. */
bool fbp_init_has_word(const char *text, const char *word, bool alone);

/** Path below the folder. */
const char *fbp_init_inside(const struct fbp_init_folder *folder, const char *path);

/** The role that a name suggests: files or folders called flats, white_0001, df … */
enum fbp_init_role fbp_init_role_of(const struct fbp_init_folder *folder,
                                    const struct fbp_init_series *s);

/** The projections are the largest array whose name has no other role; other arrays of the same
 *  panel get roles by their names. */
void fbp_init_assign(const struct fbp_init_folder *folder, struct fbp_init_found *out);

/** Is the file of a series a whole scan, of fbp or of another program? */
bool fbp_init_is_whole_scan(const struct fbp_init_series *s,
                            const struct fbp_init_series *projections);

/** Fail with the reason why there are no projections. */
fbp_status fbp_init_no_projections(const struct fbp_init_folder *folder);

/* The scan file (folder_guess.c). */

/** Make a scan file from a folder; free *out by cJSON_Delete(). */
fbp_status fbp_init_write(cJSON **out, const struct fbp_init_folder *folder,
                          const struct fbp_folder_known *known);

#endif /* FBP_SRC_SCAN_FOLDER_FOLDER_H */
