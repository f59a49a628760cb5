/** @file model.h  A machine that is described in words, such as "gpus=4,gpu=h200,read=2GB/s"
 * (internal).  Called by predict.c, which plans for it.
 *
 * Facts of known cards (backend/gpu/cards.c) are defaults, and each can be replaced.  A plan uses
 * the rates of the model in place of measured ones.
 */
#ifndef FBP_BENCH_PREDICT_MODEL_H
#define FBP_BENCH_PREDICT_MODEL_H

#include "pipeline/division.h"

struct gpu_card;

enum { FBP_MODEL_MOST_NODES = 65536 };

struct fbp_model {
    const struct gpu_card *card;
    double gups; /**< giga-updates per second of the kernel if all views see a voxel; 0: that of the
                    card */
    uint64_t device_bytes;  /**< memory of a card */
    uint64_t host_bytes;    /**< memory of a node; 0: no limit */
    double filter;          /**< giga-samples per second of a node without cards; 0: no limit */
    size_t n_nodes;         /**< 0: it is one machine, and no cluster */
    struct fbp_nodes nodes; /**< the cards of each node are its ranks */
};

/** Read "KEY=VALUE,KEY=VALUE…". @return FBP_ERR_INVALID for a key or value that is unknown, given
 * twice, without its unit, or out of range. */
fbp_status fbp_model_read(const char *text, struct fbp_model *out);

/** Rates of a job on a card of the model, after its kernel was chosen. */
void fbp_model_rates(const struct fbp_model *model, const struct fbp_job *job,
                     struct fbp_rates *out);

/** Seconds before the first run: the driver, and memory that cards copy from and to: that of a
 *  division, and `bytes` of the caller's. */
double fbp_model_open(const struct fbp_model *model, const struct fbp_work *work, uint64_t bytes);

#endif /* FBP_BENCH_PREDICT_MODEL_H */
