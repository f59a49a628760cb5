/** @file mex_args.h  What the MEX files share: arguments of MATLAB or Octave, checked, and
 * failures.
 *
 * A function that can fail returns false and leaves what to say.  Errors leave a MEX file by a
 * jump: mex_raise() is called at the end, when all that is the library's has been given back.
 */
#ifndef FBP_MEX_ARGS_H
#define FBP_MEX_ARGS_H

#include <mex.h>

#include <fbp/fbp.h>

#include <stdbool.h>

struct mex_failure {
    char id[40], text[700]; /**< "fbp:size" and a sentence; an empty id: there is none */
};

/** Of the first failure, the identifier ("size" becomes "fbp:size") and the sentence; false. */
bool mex_fail(struct mex_failure *failure, const char *id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/** What the library has said last; false. */
bool mex_fail_library(struct mex_failure *failure);
/** The failure, if there is one, as an error of the host; does not return then. */
void mex_raise(const struct mex_failure *failure);

/** A real array's n numbers as doubles, which the host frees; n 0: any number, at least one. */
bool mex_numbers(struct mex_failure *f, const char *name, const mxArray *array, size_t n,
                 double **out);
/** One finite number from lo to hi. */
bool mex_number(struct mex_failure *f, const char *name, const mxArray *array, double lo, double hi,
                double *out);
bool mex_count(struct mex_failure *f, const char *name, const mxArray *array, size_t lo, size_t hi,
               size_t *out);
/** A text, which the host frees. */
bool mex_text(struct mex_failure *f, const char *name, const mxArray *array, const char **out);
/** The place of a text in a list that ends with NULL. */
bool mex_choice(struct mex_failure *f, const char *name, const mxArray *array,
                const char *(*list)(size_t), size_t *out);

/** GX, GY and GZ: unit vectors, n of each, or of GX as many as there are if n is 0. */
bool mex_directions(struct mex_failure *f, const mxArray *const xyz[3], size_t n, double (**out)[3],
                    size_t *n_out);

/** An option of a call: takes its value. */
struct mex_option {
    const char *name;
    bool (*take)(void *call, const char *name, const mxArray *value);
};

/** Pairs of name and value; names in any case.  options end with a NULL name. */
bool mex_options(struct mex_failure *f, const struct mex_option *options, void *call, int n,
                 const mxArray *const *pairs);

#endif /* FBP_MEX_ARGS_H */
