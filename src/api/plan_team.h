/** @file plan_team.h  A plan of several processes (internal). */
#ifndef FBP_SRC_PLAN_TEAM_H
#define FBP_SRC_PLAN_TEAM_H

#include "api/plan.h"

/** Threads and card of one of several processes of this host. */
void fbp_plan_take_cores(fbp_plan *p);
fbp_status fbp_plan_take_card(fbp_plan *p);
/** Its layers, once the kernel is chosen. */
fbp_status fbp_plan_take_share(fbp_plan *p);
/** The place of a rank of a cluster that is not there. */
fbp_status fbp_plan_take_rank(fbp_plan *p);
/** A team that shares views adds up what its processes have (team_sum.c). */
void fbp_plan_share_views(fbp_plan *p);
void fbp_plan_forget_pieces(fbp_plan *p);
/** Who computes what. */
void fbp_plan_note_team(const fbp_plan *p);
/** Those that share views divide their slab in the same way. */
fbp_status fbp_plan_agree_division(fbp_plan *p,
                                   fbp_status (*divide)(fbp_plan *, struct fbp_work *));
/** All have planned, or one of them has not: all get the same status.  Plans must be the same. */
fbp_status fbp_plan_agree(fbp_plan *p, fbp_status status);

/** What a run of several processes has beside its own (run_team.c). */
struct fbp_plan_run_team;

/** Bytes of it. */
uint64_t fbp_plan_team_bytes(const fbp_plan *p);

/** Where the slices of this process go, if that is not the output itself: to rank 0. */
fbp_status fbp_plan_team_sink(const fbp_plan *p, fbp_sink **out);

/** All know which slices of the output are there already.  sink: of rank 0 the output.
 *  fingerprint: of what the values depend on, the same for all. */
fbp_status fbp_plan_team_begin(fbp_plan *p, fbp_sink *sink, uint64_t fingerprint,
                               struct fbp_plan_run_team **out);
/** Who tells how far all are, in place of the caller's own function. */
int fbp_plan_team_progress(void *user, const struct fbp_progress *now);
/** And an fbp_log_fn for the same `user`. */
void fbp_plan_team_log(void *user, enum fbp_log_level level, const char *line);
/** This process has computed, or failed: all wait for all, and rank 0 gets what the others tell,
 *  into its report and its look. */
fbp_status fbp_plan_team_computed(struct fbp_plan_run_team *t, fbp_status status, fbp_look *look,
                                  uint64_t n_found, struct fbp_report *report);
void fbp_plan_team_end(struct fbp_plan_run_team **run);

#endif /* FBP_SRC_PLAN_TEAM_H */
