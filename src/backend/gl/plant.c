#include "backend/gl/plant.h"

struct gl_plant gl_plant;
