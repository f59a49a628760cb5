/** @file folder.h  A folder in place of a scan file: the scan in it, or the one that it suggests.
 */
#ifndef FBP_FOLDER_H
#define FBP_FOLDER_H

#include "fbp/scan.h"

FBP_BEGIN

/** Known facts about the scan in a folder; 0 or NULL: unknown. */
struct fbp_folder_known {
    size_t struct_size;
    size_t kind; /**< 1 + enum fbp_kind */
    double pitch_mm, sod_mm, sdd_mm;
    double arc_deg; /**< angle that the views cover */
    /** Future folder of the scan file, to which its paths are relative; NULL: the current one. */
    const char *base;
    /** Gets each guess as a note, and files that cannot be read as warnings. */
    fbp_log_fn *log;
    void *user;
};

/**
 * Find the scan file in a folder, or in a subfolder: of this program, else of another one.
 *
 * @param[out] path  free(); NULL, with FBP_OK, if `folder` is not a folder
 * @param      known  `log` and `user` are used; may be NULL
 * @return FBP_ERR_INVALID: no scan file (the message lists the contents and a remedy), or several;
 *         FBP_ERR_IO, FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_folder_scan(char **path, const char *folder,
                                                  const struct fbp_folder_known *known);

/**
 * Guess the scan file of a folder without one, as text.  Projections are the largest array or
 * series of numbered files; darks, flats, bad pixels and angles are recognized by their names, a
 * geometry by its size.  Each guess has a comment before its key, and assumptions are listed in
 * "assumed".
 *
 * @param[out] text  JSON; free()
 * @return FBP_ERR_INVALID: the folder has no projections, or already a scan file; FBP_ERR_IO,
 *         FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_folder_guess(char **text, const char *folder,
                                                   const struct fbp_folder_known *known);

/**
 * Load the scan file in a folder or, without one, a guess, whose assumptions are in out->assumed.
 * out->path is the path of the scan file, or of a future one.
 *
 * known  base is not used; with a scan file, only pitch_mm is used
 * @return as fbp_folder_scan(), fbp_folder_guess() and fbp_scan_load().
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_folder_load(struct fbp_scan *out, const char *folder,
                                                  const struct fbp_folder_known *known);

FBP_END

#endif /* FBP_FOLDER_H */
