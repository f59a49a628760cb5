/** @file init_guess.h  A scan file that is being written by fbp init. */
#ifndef FBP_CLI_INIT_GUESS_H
#define FBP_CLI_INIT_GUESS_H

#include "init.h"

#include <limits.h>

struct guess {
    const struct init_folder *folder;
    const struct init_known *known;
    struct init_found found;
    const char *geometry; /* file of a geometry that fits; NULL: none */
    double pitch, i0;     /* that goes with it; i0 0: it says none */
    char base[PATH_MAX];  /* folder that the scan file will be in */
    cJSON *root;
    cJSON *at;      /* the object that is being written */
    cJSON *assumed; /* its member of this name */
    bool cone;
};

/** A comment in the file, and a line on standard error. */
void init_say(struct guess *g, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/** What nobody has told: it stays in the file, until somebody removes it there. */
void init_assume(struct guess *g, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/** The name of a file of the folder, as the scan file knows it. */
void init_put_path(struct guess *g, const char *key, const char *pattern);

/** Does the folder hold an EPR image: files of a spectrometer or laboratory, or an array beside a
 *  list of directions?  Then the scan file is written into g->root. */
bool init_planes(struct guess *g);

#endif /* FBP_CLI_INIT_GUESS_H */
