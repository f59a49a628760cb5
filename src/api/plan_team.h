/** @file plan_team.h  A plan of several processes (internal). */
#ifndef FBP_SRC_PLAN_TEAM_H
#define FBP_SRC_PLAN_TEAM_H

#include "api/plan.h"

/** Threads and card of one of several processes of this host. */
void fbp_plan_take_cores(fbp_plan *p);
fbp_status fbp_plan_take_card(fbp_plan *p);
/** Its slices, once the kernel is chosen; request: of the work of one process. */
fbp_status fbp_plan_take_share(fbp_plan *p, const struct fbp_work_request *request);
/** The place of the rank of a cluster that the plan is made for (p->target). */
fbp_status fbp_plan_take_rank(fbp_plan *p, const struct fbp_work_request *request);
/** A team that shares views adds up what its processes have (team_sum.c). */
fbp_status fbp_plan_share_views(fbp_plan *p);
void fbp_plan_forget_sums(fbp_plan *p);
/** Of those that share views: does this process get the sum of slice z of the output, which is one
 *  of its slab? */
bool fbp_plan_has_sum(const fbp_plan *p, size_t z);
/** Bytes of what it gets of the others. */
uint64_t fbp_plan_sum_bytes(const fbp_plan *p);
/** Who computes what. */
void fbp_plan_note_team(const fbp_plan *p);
/** Does what was divided fit into the memory of all, as `status` says of this one?  FBP_ERR_NOMEM
 *  if not: p->lack is what the process with the largest needs asks for, and the message names it.
 */
fbp_status fbp_plan_agree_memory(fbp_plan *p, fbp_status status);
/** The most that any process of the team says. */
fbp_status fbp_plan_agree_most(const fbp_plan *p, double *value);
/** Those that share views divide their slab in the same way. */
fbp_status fbp_plan_agree_division(fbp_plan *p,
                                   fbp_status (*divide)(fbp_plan *, struct fbp_work *));
/** All have planned, or one of them has not: all get the same status.  Plans must be the same. */
fbp_status fbp_plan_agree(fbp_plan *p, fbp_status status);

/** What a run of several processes has beside its own (run_team.c). */
struct fbp_plan_run_team;

/** Bytes of it, of rank 0 or of another. */
uint64_t fbp_plan_team_bytes(const fbp_plan *p, bool first);

/* Where slices go (team_output.c). */

/** Of slices that go to rank 0 at once. */
enum { FBP_TEAM_SENT_BYTES = 4 << 20 };
size_t fbp_plan_slice_bytes(const fbp_plan *p);
size_t fbp_plan_team_at_once(const fbp_plan *p);

/** All read the same views, by names, sizes and times of their files, and name the same output. */
fbp_status fbp_plan_team_compare(const fbp_plan *p, const fbp_source *source, const char *output);

/** The output, of a process alone or of each of a team.  *apart: each writes its own slices; else
 *  rank 0 writes all. */
fbp_status fbp_plan_team_open(const fbp_plan *p, const fbp_source *source, const char *output,
                              fbp_sink **sink, bool *apart);
/** Has this process a sink of the output? */
bool fbp_plan_team_writes(const fbp_plan *p, bool apart);
/** Where the slices of this process go, if that is not the output itself: to rank 0. */
fbp_status fbp_plan_team_sink(const fbp_plan *p, fbp_sink **out);

/** All know which slices of the output are there already.  sink: what this process writes to. */
fbp_status fbp_plan_team_begin(fbp_plan *p, fbp_sink *sink, bool apart,
                               struct fbp_plan_run_team **out);
/** Who tells how far all are, in place of the caller's own function. */
int fbp_plan_team_progress(void *user, const struct fbp_progress *now);
/** And an fbp_log_fn for the same `user`. */
void fbp_plan_team_log(void *user, enum fbp_log_level level, const char *line);
/** This process has computed, or failed: all wait for all, and rank 0 gets what the others tell,
 *  into its report and its look.  ahead: fbp_plan_count_ahead() of this one. */
fbp_status fbp_plan_team_computed(struct fbp_plan_run_team *t, fbp_status status, fbp_look *look,
                                  uint64_t n_found, const struct fbp_prep_counts *ahead,
                                  struct fbp_report *report);
/** May what all have computed become the output, says rank 0?  Then the others finish theirs, and
 *  rank 0 may publish it.  t NULL: it is the status that is given. */
fbp_status fbp_plan_team_written(struct fbp_plan_run_team *t, fbp_status status);
void fbp_plan_team_end(struct fbp_plan_run_team **run);

#endif /* FBP_SRC_PLAN_TEAM_H */
