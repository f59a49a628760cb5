/* opt_nearest(): the known name with the smallest edit distance to an unknown word, for messages
 * such as "did you mean --voxel?". Called by opt.c (options) and program.c (commands). */
#include "opt.h"

#include <string.h>

enum { MAX_WORD = 40 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t edit_distance(const char *a, const char *b)
{
    const size_t na = strlen(a), nb = strlen(b);
    size_t row[MAX_WORD + 1];

    if (na > MAX_WORD || nb > MAX_WORD)
        return MAX_WORD;
    for (size_t j = 0; j <= nb; j++)
        row[j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            const size_t swap = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = least(swap, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[nb];
}

const char *opt_nearest(const char *word, const char *(*name)(const void *list, size_t i),
                        const void *list, size_t n)
{
    const char *best = NULL;
    size_t bound = (strlen(word) + 2) / 3 + 1; /* a third of the letters may be wrong */

    for (size_t i = 0; i < n; i++) {
        const char *candidate = name(list, i);
        const size_t dist = candidate ? edit_distance(word, candidate) : bound;
        if (dist < bound) {
            bound = dist;
            best = candidate;
        }
    }
    return best;
}
