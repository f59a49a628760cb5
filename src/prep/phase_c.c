/* For any processor. */
#define LANES 2
#define TABLE fbp_retrieve_c
#include "prep/phase_tmpl.h"
