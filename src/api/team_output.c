/* Where the slices of a team go: each process writes its own into the output, if all see the same
 * file system and the format has a place for each slice; else rank 0 writes all. */
#include "api/plan_team.h"

#include "array/array.h"
#include "base/cache.h"
#include "base/mem.h"
#include "fbp/callback.h"
#include "team/team.h"

#include <stdio.h>
#include <string.h>

size_t fbp_plan_slice_bytes(const fbp_plan *p)
{
    return p->info.volume.n[0] * p->info.volume.n[1] * fbp_value_size(&p->tables.job);
}

size_t fbp_plan_team_at_once(const fbp_plan *p)
{
    const size_t bytes = fbp_plan_slice_bytes(p);

    return bytes < FBP_TEAM_SENT_BYTES ? FBP_TEAM_SENT_BYTES / bytes : 1;
}

/* A write() of fbp_sink_functions: rank 0 writes them. */
static int send(const fbp_plan *p, size_t z0, size_t nz, const void *slices, char *why,
                size_t n_why)
{
    if (fbp_team_offer(p->params.team, z0, nz, slices, nz * fbp_plan_slice_bytes(p)) == FBP_OK)
        return 0;
    snprintf(why, n_why, "%s", fbp_message());
    fbp_message_clear();
    return 1;
}

static int send_floats(void *user, size_t z0, size_t nz, const float *slices, char *why,
                       size_t n_why)
{
    return send(user, z0, nz, slices, why, n_why);
}

static int send_doubles(void *user, size_t z0, size_t nz, const double *slices, char *why,
                        size_t n_why)
{
    return send(user, z0, nz, slices, why, n_why);
}

fbp_status fbp_plan_team_sink(const fbp_plan *p, fbp_sink **out)
{
    const bool doubles = fbp_in_double(&p->tables.job);
    const struct fbp_sink_functions functions = {.struct_size = sizeof functions,
                                                 .write = doubles ? NULL : send_floats,
                                                 .write_double = doubles ? send_doubles : NULL,
                                                 .user = (void *)(uintptr_t)p,
                                                 .at_once = fbp_plan_team_at_once(p),
                                                 .concurrent = 1};
    const size_t *v = p->info.volume.n, n[3] = {v[0], v[1], p->info.frames * v[2]};

    return fbp_sink_callback(out, &functions, n);
}

/* What must be the same where one output is written. */
struct files {
    uint64_t inputs; /* by names, sizes and times */
    uint64_t output;
};

fbp_status fbp_plan_team_compare(const fbp_plan *p, const fbp_source *source, const char *output)
{
    fbp_team *team = p->params.team;
    const size_t size = fbp_team_size(team);
    struct files mine = {.output = fbp_hash(0, output, strlen(output))}, *all = NULL;
    char name[100];

    if (!team)
        return FBP_OK;
    fbp_status st = fbp_plan_fingerprint(p, source, &mine.inputs);
    if (st == FBP_OK)
        st = fbp_calloc((void **)&all, size, sizeof *all, "a team");
    st = fbp_team_gather(team, "inputs", st, &mine, sizeof mine, all);
    for (size_t r = 1; all && r < size && st == FBP_OK; r++) {
        (void)fbp_team_name(team, r, name, sizeof name);
        if (all[r].inputs != all[0].inputs)
            st = fbp_fail(FBP_ERR_INVALID,
                          "%s reads other files than rank 0, or copies of other times: give all "
                          "the same files, or copy them with their times (cp -p)",
                          name);
        else if (all[r].output != all[0].output)
            st = fbp_fail(FBP_ERR_INVALID,
                          "%s has another output than rank 0: start all with the same command",
                          name);
    }
    free(all);
    return st;
}

bool fbp_plan_team_writes(const fbp_plan *p, bool apart)
{
    return fbp_team_rank(p->params.team) == 0 || (apart && !p->ranks.idle);
}

/* A rank's sink of the output that all write; rank 0 makes of what is left what was asked for, and
 * publishes. */
static fbp_status open_joint(const fbp_plan *p, const fbp_source *source, const char *output,
                             fbp_sink **sink)
{
    const bool first = fbp_team_rank(p->params.team) == 0;
    const struct fbp_sink_joint joint = {.part =
                                             p->ranks.slab * p->ranks.n_parts + p->ranks.part + 1,
                                         .n_parts = p->ranks.n_slabs * p->ranks.n_parts,
                                         .first = first,
                                         .led = !first};

    return fbp_plan_sink_open(p, source, output, p->params.output_range, &joint, sink);
}

static fbp_status open_alone(const fbp_plan *p, const fbp_source *source, const char *output,
                             fbp_sink **sink)
{
    return fbp_plan_sink_open(p, source, output,
                              p->params.auto_range ? NULL : p->params.output_range, NULL, sink);
}

/* What rank 0 has opened. */
struct opened {
    bool joint;
    struct fbp_sink_token token;
};

/* Formats that are written from their start to their end, and hash:, are for one process, and so is
 * what cannot be resumed, or is complete. */
static fbp_status open_first(const fbp_plan *p, const fbp_source *source, const char *output,
                             fbp_sink **sink, struct opened *out)
{
    uint64_t fingerprint = 0;
    fbp_status st = FBP_ERR_UNSUPPORTED;

    FBP_TRY(fbp_plan_fingerprint(p, source, &fingerprint));
    if (fingerprint && !p->params.auto_range)
        st = open_joint(p, source, output, sink);
    if (st == FBP_ERR_UNSUPPORTED) {
        fbp_message_clear();
        return open_alone(p, source, output, sink);
    }
    FBP_TRY(st);
    fbp_sink_token(*sink, &out->token);
    out->joint = out->token.path[0] || strcmp(output, "null:") == 0;
    return FBP_OK;
}

/* "rank 2 on node3, and 1 more," of those that do not see what rank 0 has made; false: all do. */
static bool name_blind(const fbp_team *team, const unsigned char *sees, char *line, size_t n)
{
    const size_t size = fbp_team_size(team);
    size_t first = size, blind = 0;
    char name[100];

    for (size_t r = size; r-- > 0;) {
        first = sees[r] ? first : r;
        blind += !sees[r];
    }
    if (blind == 0)
        return false;
    (void)fbp_team_name(team, first, name, sizeof name);
    if (blind > 1)
        snprintf(line, n, "%s and %zu more do", name, blind - 1);
    else
        snprintf(line, n, "%s does", name);
    return true;
}

/* Do all see the file system of rank 0?  It says who does not. */
static fbp_status look(const fbp_plan *p, const char *output, const struct opened *opened,
                       bool *apart)
{
    fbp_team *team = p->params.team;
    const unsigned char mine = !opened->token.path[0] || fbp_sink_sees(&opened->token);
    char blind[160], first[100], line[600];
    unsigned char *all = NULL;

    fbp_status st = fbp_calloc((void **)&all, fbp_team_size(team), 1, "a team");
    st = fbp_team_gather(team, "file system", st, &mine, 1, all);
    *apart = st == FBP_OK && !name_blind(team, all, blind, sizeof blind);
    free(all);
    if (st != FBP_OK || *apart || fbp_team_rank(team) > 0)
        return st;
    snprintf(line, sizeof line,
             "%s not see %.200s.part, which %s has made: their file systems differ, and rank 0 "
             "writes the slices of all",
             blind, output, fbp_team_name(team, 0, first, sizeof first));
    fbp_plan_note(p, FBP_LOG_NOTE, line);
    return FBP_OK;
}

/* The others, and rank 0 once more if it writes alone. */
static fbp_status open_rest(const fbp_plan *p, const fbp_source *source, const char *output,
                            bool apart, bool again, fbp_sink **sink)
{
    if (fbp_team_rank(p->params.team) > 0)
        return fbp_plan_team_writes(p, apart) ? open_joint(p, source, output, sink)
                                              : fbp_plan_team_sink(p, sink);
    if (!again)
        return FBP_OK;
    fbp_sink_close(sink);
    return open_alone(p, source, output, sink);
}

fbp_status fbp_plan_team_open(const fbp_plan *p, const fbp_source *source, const char *output,
                              fbp_sink **sink, bool *apart)
{
    fbp_team *team = p->params.team;
    struct opened opened = {.joint = false};
    fbp_status st = FBP_OK;

    *apart = false;
    if (!team)
        return open_alone(p, source, output, sink);
    FBP_TRY(fbp_plan_team_compare(p, source, output));
    if (fbp_team_rank(team) == 0)
        st = open_first(p, source, output, sink, &opened);
    FBP_TRY(fbp_team_share(team, "opened", st, &opened, sizeof opened));
    if (opened.joint)
        FBP_TRY(look(p, output, &opened, apart));
    return open_rest(p, source, output, *apart, opened.joint && !*apart, sink);
}
