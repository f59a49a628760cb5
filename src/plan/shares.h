/** @file shares.h  Who counts what is mended in which rows (internal). */
#ifndef FBP_SRC_SHARES_H
#define FBP_SRC_SHARES_H

#include "backend/ledger.h"
#include "plan/work.h"

/** All rows that line integrals are needed of, for what is asked of the volume: those of each view
 *  by itself, so that they depend on scan and volume alone. */
fbp_status fbp_ledger_create(struct fbp_ledger *out, const struct fbp_job *job);
void fbp_ledger_clear(struct fbp_ledger *ledger);

/** One without rows. */
fbp_status fbp_ledger_empty(struct fbp_ledger *out, const struct fbp_job *job);
void fbp_ledger_zero(struct fbp_ledger *ledger);

/** *out becomes those of the rest that these tasks read, which leaves the rest without them. */
void fbp_ledger_share(struct fbp_ledger *rest, const struct fbp_job *job,
                      const struct fbp_task *tasks, size_t n_tasks, struct fbp_ledger *out);

/** *to gets these, too. */
void fbp_ledger_add(struct fbp_ledger *to, const struct fbp_ledger *rows);

/** Bytes of a ledger. */
size_t fbp_ledger_bytes(const struct fbp_job *job);

#endif /* FBP_SRC_SHARES_H */
