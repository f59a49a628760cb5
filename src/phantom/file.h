/** @file file.h  Phantoms by name and from text (internal). */
#ifndef FBP_SRC_FILE_H
#define FBP_SRC_FILE_H

#include "fbp/phantom.h"

#include "base/base.h"

/* Phantoms as text. */

/** Greatest exponent of a soft ellipsoid. */
enum { FBP_PHANTOM_M_MAX = 100 };

/** A text that is being read, and the phantom that grows from it. */
struct fbp_phantom_text {
    const char *path;
    const char *at; /**< the next character; '\0' ends the text */
    size_t line;    /**< that it stands in, from 1 */
    double scale;   /**< of densities */
    struct fbp_phantom *out;
    size_t room, shapes_room;
};

/** One format; a text is of the first in the list whose `mark` begins a line of it. */
struct fbp_phantom_format {
    char mark; /**< '\0': any other text */
    fbp_status (*read)(struct fbp_phantom_text *text);
    const char *nothing; /**< what to write where a file holds nothing */
};

extern const struct fbp_phantom_format fbp_phantom_rtk, fbp_phantom_leap;

/** Load a file; on failure *out is to be cleared. */
FBP_MUST_CHECK fbp_status fbp_phantom_load(struct fbp_phantom *out, const char *path, double scale);

/** FBP_ERR_INVALID as "PATH:LINE: …". */
fbp_status fbp_phantom_wrong(const struct fbp_phantom_text *text, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/** Go past blanks, line ends and comments: from '#' or "//" to the end of the line. */
void fbp_phantom_skip(struct fbp_phantom_text *text);

/** Go past blanks within a line. */
void fbp_phantom_blanks(struct fbp_phantom_text *text);

/** Letters, digits and '_' into word[n], cut off; false where there is none. */
bool fbp_phantom_word(struct fbp_phantom_text *text, char *word, size_t n);

/** Go past character c if it is next. */
bool fbp_phantom_take(struct fbp_phantom_text *text, char c);

/** A finite number as strtod reads it. */
FBP_MUST_CHECK fbp_status fbp_phantom_number(struct fbp_phantom_text *text, double *out);

/**
 * A sum of products of numbers, (…), sin(…), cos(…), tan(…), sqrt(…); angles in degrees.
 * @return FBP_ERR_INVALID for anything else, and where the value is not finite.
 */
FBP_MUST_CHECK fbp_status fbp_phantom_expression(struct fbp_phantom_text *text, double *out);

FBP_MUST_CHECK fbp_status fbp_phantom_add(struct fbp_phantom_text *text,
                                          const struct fbp_ellipsoid *ellipsoid);
FBP_MUST_CHECK fbp_status fbp_phantom_add_shape(struct fbp_phantom_text *text,
                                                const struct fbp_shape *shape);

/* Phantoms by name that ellipsoids about z cannot make. */

/** Name i from 0; NULL beyond the last. */
const char *fbp_epr_table_name(size_t i);

/** Phantom i in a cube of half side h; cleared by the caller, on failure, too. */
FBP_MUST_CHECK fbp_status fbp_epr_table_create(struct fbp_phantom *out, size_t i, double h,
                                               double scale);

#endif /* FBP_SRC_FILE_H */
