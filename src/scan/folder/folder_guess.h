/** @file folder_guess.h  The scan file that a folder suggests, while it is made (internal). */
#ifndef FBP_SRC_FOLDER_GUESS_H
#define FBP_SRC_FOLDER_GUESS_H

#include "scan/folder/folder_files.h"

#include <cjson/cJSON.h>
#include <limits.h>

struct fbp_guess {
    const struct fbp_init_folder *folder;
    const struct fbp_folder_known *known;
    struct fbp_init_found found;
    const char *geometry; /* file of a geometry that fits; NULL: none */
    double pitch, i0;     /* that goes with it; i0 0: it says none */
    char base[PATH_MAX];  /* folder that the scan file will be in */
    cJSON *root;
    cJSON *at;      /* the object that is being written */
    cJSON *assumed; /* its member of this name */
    bool cone;
};

/** A comment in the file, and a line on standard error. */
void fbp_init_say(struct fbp_guess *g, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/** What nobody has told: it stays in the file, until somebody removes it there. */
void fbp_init_assume(struct fbp_guess *g, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/** The name of a file of the folder, as the scan file knows it. */
void fbp_init_put_path(struct fbp_guess *g, const char *key, const char *pattern);

/** Numbers as a list, of which the last argument is the length. */
void fbp_init_numbers(cJSON *object, const char *key, const double *v, size_t n);

/** Does the folder hold an EPR image: files of a spectrometer or laboratory, or an array beside a
 *  list of directions?  Then the scan file is written into g->root. */
bool fbp_init_planes(struct fbp_guess *g);

/** All of it; free *out by cJSON_Delete(). */
fbp_status fbp_init_write(cJSON **out, const struct fbp_init_folder *folder,
                          const struct fbp_folder_known *known);

#endif /* FBP_SRC_FOLDER_GUESS_H */
