/** @file folder.h  A folder in place of a scan file: the scan in it, or the one that it suggests.
 */
#ifndef FBP_FOLDER_H
#define FBP_FOLDER_H

#include "fbp/scan.h"

FBP_BEGIN

/** What is told of the scan in a folder; 0 or NULL: not told. */
struct fbp_folder_known {
    size_t struct_size;
    size_t kind; /**< 1 + enum fbp_kind */
    double pitch_mm, sod_mm, sdd_mm;
    double arc_deg; /**< angle that the views cover */
    /** Folder that the scan file will be in, which its paths count from; NULL: the current one. */
    const char *base;
    /** Gets each guess as a note, and files that cannot be read as warnings. */
    fbp_log_fn *log;
    void *user;
};

/**
 * The one scan file in a folder, or in a folder in it: of this program, else of another.
 *
 * @param[out] path  free(); NULL if `folder` is no folder, which is no failure
 * @param      known  `log` and `user` are used; may be NULL
 * @return FBP_ERR_INVALID: there is none (the message says what there is, and what to do), or
 *         several; FBP_ERR_IO, FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_folder_scan(char **path, const char *folder,
                                                  const struct fbp_folder_known *known);

/**
 * The scan file that a folder without one suggests, as text: projections are its largest array or
 * series of numbered files, darks, flats, bad pixels and angles are known by their names, a
 * geometry by its fit.  Each guess is a comment before its key, and what nobody has told stands in
 * "assumed".
 *
 * @param[out] text  JSON; free()
 * @return FBP_ERR_INVALID: nothing in it can be projections, or it has a scan file already;
 *         FBP_ERR_IO, FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_folder_guess(char **text, const char *folder,
                                                   const struct fbp_folder_known *known);

/**
 * Load the scan in a folder, or else the one that it suggests; what is only a guess is in
 * out->assumed.  out->path is the scan file's, or what it would be.
 *
 * known  base is not used; of a scan file, only pitch_mm is
 * @return as these two and fbp_scan_load().
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_folder_load(struct fbp_scan *out, const char *folder,
                                                  const struct fbp_folder_known *known);

FBP_END

#endif /* FBP_FOLDER_H */
