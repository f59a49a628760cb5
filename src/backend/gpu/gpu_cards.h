/** @file gpu_cards.h  How fast known cards are: each kernel as measured, the filter, the links
 * (internal; pure).
 *
 * Measured as the page on their performance in docs/ says.
 */
#ifndef FBP_SRC_GPU_CARDS_H
#define FBP_SRC_GPU_CARDS_H

#include "backend/gpu/gpu_known.h"

/** Rates in bytes a second.  "all": several cards of one host together. */
struct gpu_card {
    const char *name;
    uint64_t memory_bytes;
    double up, down, up_all, down_all;
    double both, both_all; /**< each way, while both are used */
    double peer;           /**< from card to card */
    double copy;           /**< from one place in its memory to another */
    double speed;          /**< of its kernels, beside those that were measured */
};

FBP_BEGIN
/** Cards, i from 0; NULL beyond the last. */
const struct gpu_card *gpu_card_at(size_t i);

/** What a job's chosen kernel takes on a card, of voxels that all views see. */
void gpu_rates(const struct gpu_card *card, const struct fbp_job *job, struct fbp_rates *out);
FBP_END

#endif /* FBP_SRC_GPU_CARDS_H */
