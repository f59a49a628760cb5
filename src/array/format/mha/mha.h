/** @file mha.h  The parts of MetaImage (internal). */
#ifndef FBP_SRC_MHA_H
#define FBP_SRC_MHA_H

#include "array/file/format.h"

extern const struct fbp_sink_format fbp_mha_files[];

#endif /* FBP_SRC_MHA_H */
