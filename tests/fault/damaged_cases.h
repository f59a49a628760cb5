/** @file damaged_cases.h  Files that are wrong, each in one way. */
#ifndef FBP_TESTS_DAMAGED_CASES_H
#define FBP_TESTS_DAMAGED_CASES_H

#include <stddef.h>

enum damaged_command { INFO, RECON, CONVERT, RESPONSE };

struct damaged_case {
    const char *what;
    enum damaged_command command;
    const char *file; /**< its name */
    const char *data;
    size_t n;                      /**< bytes of data; 0: text */
    const char *names;             /**< the file to be named; NULL: this one */
    void (*put)(const char *path); /**< writes the file, in place of data; NULL */
    const char *until; /**< what follows in the message depends on the machine or the formats */
};

/** A sound scan of plane integrals, which a RESPONSE is for, and its name. */
#define DAMAGED_PLANES "planes.json"
extern const char damaged_planes[];

/** All of them. */
const struct damaged_case *damaged_cases(size_t *n);

#endif /* FBP_TESTS_DAMAGED_CASES_H */
