/** @file scan_notes.h  What is assumed of a scan, and what is to be noted (internal). */
#ifndef FBP_SRC_SCAN_NOTES_H
#define FBP_SRC_SCAN_NOTES_H

#include "fbp/scan.h"

#include "base/base.h"

/** One fact more that `file` says is assumed, or does not say; value may be NULL. */
fbp_status fbp_scan_assume(struct fbp_scan *scan, const char *file, const char *key,
                           const char *value, const char *why);
/** One note more, behind those that there are. */
fbp_status fbp_scan_note(struct fbp_scan *scan, const char *note);
/** The note that a key of a file, which changes the result, is not applied. */
fbp_status fbp_scan_note_ignored(struct fbp_scan *scan, const char *file, const char *key,
                                 const char *value, const char *remedy);

/** As fbp_scan_clear() and fbp_scan_confirm(), of a struct of the library's own. */
void fbp_scan_free(struct fbp_scan *scan);
void fbp_scan_settle(struct fbp_scan *scan, const char *key);

#endif /* FBP_SRC_SCAN_NOTES_H */
