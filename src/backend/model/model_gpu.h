/** @file model_gpu.h  A GPU that is not there, to plan for (internal).
 *
 * It chooses kernels and counts bytes as GPUs do (backend/gpu), and computes nothing.  What the
 * machine around it is like, the plan knows (plan/model.h).
 */
#ifndef FBP_SRC_MODEL_BACKEND_H
#define FBP_SRC_MODEL_BACKEND_H

/** Its name among the backends (fbp_backend_find()). */
#define FBP_MODEL_BACKEND "model"

#endif /* FBP_SRC_MODEL_BACKEND_H */
