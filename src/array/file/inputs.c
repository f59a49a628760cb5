#include "array/file/inputs.h"

#include "base/base.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

fbp_status fbp_inputs_add(struct fbp_inputs *s, const char *name)
{
    if (!name || (s->n > 0 && strcmp(s->names[s->n - 1], name) == 0))
        return FBP_OK;
    if (s->n == s->room) {
        const size_t room = s->room ? 2 * s->room : 4;
        char **more = realloc(s->names, room * sizeof *more);
        if (!more)
            return fbp_fail_nomem(room * sizeof *more, "names of files");
        s->names = more;
        s->room = room;
    }
    s->names[s->n] = fbp_strdup(name);
    if (!s->names[s->n])
        return fbp_fail_nomem(strlen(name), "a path");
    s->n++;
    return FBP_OK;
}

fbp_status fbp_inputs_add_all(struct fbp_inputs *s, const struct fbp_inputs *more, size_t skip)
{
    for (size_t i = skip; i < more->n; i++)
        FBP_TRY(fbp_inputs_add(s, more->names[i]));
    return FBP_OK;
}

void fbp_inputs_clear(struct fbp_inputs *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->names[i]);
    free(s->names);
    *s = (struct fbp_inputs){0};
}
