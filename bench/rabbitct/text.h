/** @file text.h  Text and JSON that the commands fbp rabbitct … share. Included by every
 * *_command.c of this folder. */
#ifndef FBP_BENCH_RABBITCT_TEXT_H
#define FBP_BENCH_RABBITCT_TEXT_H

#include "bench/rabbitct/rabbitct.h"
#include "cli.h"

/** Whether the benchmark has references of this size, for --size. */
bool rabbitct_is_size(size_t size);

/** Print an error as text, or put it into a JSON object. */
void rabbitct_print(const struct fbp_rabbitct_error *e);
void rabbitct_json(cJSON *root, const struct fbp_rabbitct_error *e);

/** Print the contents of a data set or of a runner's result; returns the exit status. */
int rabbitct_info(const char *path, bool json);

/** Load a reference of size^3 voxels, to be freed with free(); NULL: an error was reported. */
uint16_t *rabbitct_load_reference(const char *path, size_t size);

#endif /* FBP_BENCH_RABBITCT_TEXT_H */
