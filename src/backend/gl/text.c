#include "backend/gl/text.h"

#include "backend/gpu/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 16 };

static void put(struct gl_text *t, const char *piece)
{
    t->parts[t->n] = piece;
    t->lengths[t->n++] = (int)strlen(piece);
}

/* A file of the folder, whole; NULL if it is not there. */
static char *read_text(const char *folder, const char *name)
{
    char path[4096];
    const int length = snprintf(path, sizeof path, "%s/%s.glsl", folder, name);
    FILE *file = length > 0 && (size_t)length < sizeof path ? fopen(path, "r") : NULL;
    char *text = file ? calloc(1, MOST_BYTES + 1) : NULL;

    if (text && fread(text, 1, MOST_BYTES, file) == 0) {
        free(text);
        text = NULL;
    }
    if (file)
        (void)fclose(file);
    return text;
}

static const char *built(const char *name)
{
    for (const struct gl_text_built *b = gl_texts_built; b->name; b++)
        if (strcmp(b->name, name) == 0)
            return b->text;
    return NULL;
}

fbp_status gl_text_add(struct gl_text *t, const char *name)
{
    const char *folder = gpu_host->environment(FBP_ENV_GL_SHADERS);
    char *own = folder && folder[0] && name && name[0] != '#' ? read_text(folder, name) : NULL;
    const char *text = !name            ? "#version 430 core\n"
                       : own            ? own
                       : name[0] == '#' ? name
                                        : built(name);

    if (!text || t->n + 2 > GL_TEXT_PARTS) {
        free(own);
        return gpu_host->fail(FBP_ERR_DEVICE, "gl: there is no text %s in this build", name);
    }
    if (own)
        t->own[t->n_own++] = own;
    if (name && name[0] != '#')
        put(t, "#line 1\n"); /* what a log counts from */
    put(t, text);
    return FBP_OK;
}

void gl_text_drop(struct gl_text *t)
{
    for (size_t i = 0; i < t->n_own; i++)
        free(t->own[i]);
}
