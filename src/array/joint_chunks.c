/* The chunks of an output that several processes have written are still there.  What is lost is
 * found before the edges are copied, which would begin such a chunk anew, with zeros. */
#include "array/chunked.h"
#include "array/joint.h"

#include "base/base.h"

#include <stdio.h>
#include <string.h>

/* Who has put slices into a layer; n_parts 0: nobody, they are all in files of edges. */
struct writer {
    size_t part, n_parts;
};

static fbp_status note_layers(struct fbp_sink *s, struct fbp_joint_peer *p, void *user)
{
    const size_t deep = s->chunked->levels.chunk[2];
    struct writer *layers = user;
    struct fbp_joint_line line;
    const char *at = p->lines;

    while (fbp_joint_next(s, p, &at, &line))
        for (size_t z = line.z0; line.synced && z < line.z0 + line.nz; z++)
            if (!fbp_joint_is_apart(s, &p->edges, z))
                layers[z / deep] = (struct writer){p->part, p->n_parts};
    return FBP_OK;
}

static fbp_status check_layer(const struct fbp_sink *s, size_t layer, const struct writer *w)
{
    char remedy[120];

    snprintf(remedy, sizeof remedy, ".log.%zuof%zu.* and run part %zu of %zu again", w->part,
             w->n_parts, w->part, w->n_parts);
    return fbp_chunked_check_layer(s, 0, layer, remedy);
}

fbp_status fbp_joint_check_chunks(struct fbp_sink *s)
{
    const size_t n = s->chunked->levels.level[0].chunks[2];
    struct writer *layers = NULL;

    FBP_TRY(fbp_calloc((void **)&layers, n, sizeof *layers, "a table of layers"));
    fbp_status st = fbp_joint_each(s, true, note_layers, layers);
    for (size_t k = 0; k < n && st == FBP_OK; k++)
        if (layers[k].n_parts > 0)
            st = check_layer(s, k, &layers[k]);
    free(layers);
    return st;
}
