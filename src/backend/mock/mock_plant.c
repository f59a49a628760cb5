/* What tests plant in pretended devices, and what these count. */
#include "backend/mock/mock.h"

struct fbp_mock_plant fbp_mock_plant;
atomic_uint_fast64_t fbp_mock_uploaded, fbp_mock_shared, fbp_mock_failures,
    fbp_mock_slabs[FBP_MOCK_DEVICES];
atomic_uint_fast64_t fbp_mock_measured;
