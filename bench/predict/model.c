/* Reads the text of --model, and derives rates and seconds from it. Called by predict.c.
 * Used by: predict.c. */
#include "bench/predict/model.h"

#include "backend/gpu/gpu_known.h"
#include "pipeline/division.h"
#include "pipeline/job.h"

#include <stdio.h>
#include <string.h>

/* Seconds that a run needs in addition to its commands: start of threads, statistics. */
static const double BEGIN = 1e-3;

/* Seconds to start the driver; seconds per byte to pin host memory for a card; share of that per
 * further card. */
static const double DRIVER = 0.3, READY = 1 / 20e9, FURTHER = 1 / 3.0;

/* A model and the name of its card, as they are read. */
struct words {
    struct fbp_model model;
    char card[FBP_KEY_WORD_ROOM];
};

#define AT(MEMBER)   offsetof(struct words, model.MEMBER)
#define RATE(MEMBER) AT(nodes.machine.MEMBER)

static const struct fbp_key keys[] = {
    {"nodes", FBP_KEY_COUNT, 1, FBP_MODEL_MOST_NODES, "a whole number from 1 to 65536",
     AT(n_nodes)},
    {"gpus", FBP_KEY_COUNT, 0, FBP_MOST_DEVICES, "a whole number from 0 to 64", AT(nodes.ranks)},
    {.name = "gpu", .unit = FBP_KEY_WORD, .offset = offsetof(struct words, card)},
    {"gups", FBP_KEY_NUMBER, 1e-3, 1e6, "giga-updates a second from 0.001 to 1000000, such as 3400",
     AT(gups)},
    {"filter", FBP_KEY_NUMBER, 1e-3, 1e6,
     "giga-samples a second from 0.001 to 1000000, such as 0.4", AT(filter)},
    {"memory", FBP_KEY_BYTES, 0x1p26, 0x1p44, "bytes from 64M to 16T, such as 141G",
     AT(device_bytes)},
    {"host", FBP_KEY_BYTES, 0x1p26, 0x1p50, "bytes from 64M to 1024T, such as 256G",
     AT(host_bytes)},
    {"cores", FBP_KEY_INT, 1, 4096, "a whole number from 1 to 4096", AT(nodes.n_threads)},
    FBP_RATE_KEY("up", RATE(up)),
    FBP_RATE_KEY("down", RATE(down)),
    FBP_RATE_KEY("up-all", RATE(up_all)),
    FBP_RATE_KEY("down-all", RATE(down_all)),
    FBP_RATE_KEY("both", RATE(both)),
    FBP_RATE_KEY("both-all", RATE(both_all)),
    FBP_RATE_KEY("peer", RATE(peer)),
    FBP_RATE_KEY("read", RATE(read)),
    FBP_RATE_KEY("write", RATE(write)),
    FBP_RATE_KEY("net", AT(nodes.net)),
    FBP_RATE_KEY("disk", AT(nodes.disk)),
};

_Static_assert(FBP_MOST_DEVICES == 64 && FBP_MODEL_MOST_NODES == 65536, "as the messages say");

static fbp_status find_card(const char *name, const struct gpu_card **out)
{
    char known[200] = "";
    const struct gpu_card *card;

    for (size_t i = 0; (card = gpu_card_at(i)); i++) {
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", card->name);
        if (strcmp(card->name, name) == 0) {
            *out = card;
            return FBP_OK;
        }
    }
    return fbp_fail(FBP_ERR_INVALID,
                    "model: gpu=%.*s is unknown: use one of %s, and for another card also give "
                    "gups, memory, up and down",
                    FBP_KEY_WORD_ROOM - 1, name, known);
}

/* Complete a model of nodes that compute on their cores: no links, and the memory of the host. */
static fbp_status complete_host(struct fbp_model *m)
{
    if (m->nodes.ranks > 0)
        return FBP_OK;
    if (m->gups <= 0 || m->n_nodes == 0)
        return fbp_fail(FBP_ERR_INVALID,
                        "model: gpus=0 is for nodes that compute on their cores: give nodes, and "
                        "gups of a node");
    m->nodes.on_host = true;
    m->nodes.ranks = 1;
    m->device_bytes = m->host_bytes ? m->host_bytes : (uint64_t)1 << 50;
    m->nodes.machine = (struct fbp_machine){
        .read = m->nodes.machine.read, .write = m->nodes.machine.write, .begin = BEGIN};
    return FBP_OK;
}

/* Complete missing values from the known card; the rates of one card also hold for all cards
 * together, unless their sum is given. */
static void complete(struct fbp_model *m)
{
    const struct gpu_card *c = m->card;
    struct fbp_machine *to = &m->nodes.machine;
    const struct {
        double *to, known;
    } facts[] = {{&to->up, c->up},         {&to->down, c->down},
                 {&to->up_all, c->up_all}, {&to->down_all, c->down_all},
                 {&to->both, c->both},     {&to->both_all, c->both_all},
                 {&to->peer, c->peer}};

    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (*facts[i].to <= 0)
            *facts[i].to = facts[i].known;
    if (m->device_bytes == 0)
        m->device_bytes = c->memory_bytes;
    to->begin = BEGIN;
}

static void rates_of(const struct fbp_nodes *nodes, const struct fbp_job *job,
                     struct fbp_rates *out)
{
    const char *model = (const char *)nodes - offsetof(struct fbp_model, nodes);

    fbp_model_rates((const struct fbp_model *)(const void *)model, job, out);
}

fbp_status fbp_model_read(const char *text, struct fbp_model *out)
{
    struct words words = {.model = {.card = gpu_card_at(0), .nodes = {.ranks = 1}}};

    FBP_TRY(fbp_key_values_read("model", text, keys, sizeof keys / sizeof *keys, &words));
    *out = words.model;
    out->nodes.rates = rates_of;
    if (words.card[0] || strstr(text, "gpu="))
        FBP_TRY(find_card(words.card, &out->card));
    if (out->n_nodes > 1 && out->nodes.net <= 0)
        return fbp_fail(FBP_ERR_INVALID,
                        "model: nodes=%zu: give net, the rate of a node's network, such as "
                        "net=25GB/s",
                        out->n_nodes);
    if (out->n_nodes == 0 && (out->nodes.net > 0 || out->nodes.disk > 0))
        return fbp_fail(FBP_ERR_INVALID,
                        "model: %s belongs to a cluster: also give nodes, such as nodes=4, or give "
                        "read and write for the files of one machine",
                        out->nodes.net > 0 ? "net" : "disk");
    if (out->nodes.ranks > 0)
        complete(out);
    return complete_host(out);
}

void fbp_model_rates(const struct fbp_model *m, const struct fbp_job *job, struct fbp_rates *out)
{
    gpu_rates(m->card, job, out);
    if (m->nodes.on_host) {
        *out = (struct fbp_rates){.update = 1e-9 / m->gups,
                                  .filter = m->filter > 0 ? 1e-9 / m->filter : 0};
        return;
    }
    out->upload = 1 / m->nodes.machine.up;
    out->fetch = 1 / m->nodes.machine.down;
    if (m->gups > 0)
        out->update = 1e-9 / m->gups;
}

double fbp_model_open(const struct fbp_model *m, const struct fbp_work *w, uint64_t bytes)
{
    if (m->nodes.on_host)
        return 0;
    const double own = (double)(w->n_raw * w->raw_bytes + w->n_blocks * w->block_bytes);
    const double all = (double)m->nodes.ranks * own + (double)bytes;

    return DRIVER + all * READY * (1 + (double)(m->nodes.ranks - 1) * FURTHER);
}
