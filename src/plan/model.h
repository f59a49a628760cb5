/** @file model.h  A machine that is described in words, to plan for (internal).
 *
 * "gpus=4,gpu=h200,read=2GB/s": known cards (backend/gpu/gpu_cards.h), of which each fact can be
 * given otherwise.  What is to be known of a machine that is not there is in one struct; a plan
 * divides the work and predicts its time with it as with what a real one measures.
 */
#ifndef FBP_SRC_MODEL_H
#define FBP_SRC_MODEL_H

#include "plan/predict.h"

struct gpu_card;

enum { FBP_MODEL_MOST_NODES = 65536 };

struct fbp_model {
    const struct gpu_card *card;
    size_t n_devices;
    double gups;           /**< of the kernel, where all views see a voxel; 0: the card's */
    uint64_t device_bytes; /**< memory of a card */
    uint64_t host_bytes;   /**< memory of the host; 0: no limit */
    int n_threads;         /**< 0: not given */
    struct fbp_machine machine;
    /** Of a cluster: its nodes, 0: it is one machine; rates in bytes a second: a node's network
     * each way, and the file system that all nodes share, each way.  0: no limit. */
    size_t n_nodes;
    double net, disk;
    bool on_host;  /**< gpus=0: a node is one rank that computes on its cores */
    double filter; /**< of that, giga-samples a second; 0: no limit */
};

/** Of "KEY=VALUE,KEY=VALUE…".
 *  @return FBP_ERR_INVALID for what is not known, given twice, without its unit, or absurd. */
fbp_status fbp_model_read(const char *text, struct fbp_model *out);

/** What an arranged job takes on a card. */
void fbp_model_rates(const struct fbp_model *model, const struct fbp_job *job,
                     struct fbp_rates *out);

/** Seconds before the first run: the driver, and memory that cards copy from and to: that of a
 *  division, and `bytes` of the caller's. */
double fbp_model_open(const struct fbp_model *model, const struct fbp_work *work, uint64_t bytes);

#endif /* FBP_SRC_MODEL_H */
