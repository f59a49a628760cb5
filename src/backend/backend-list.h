/* One line each, in the order `auto` prefers them; the last resort last.  gl has to be faster than
 * cpu by a measurement (backend/rival.h). */
FBP_BACKEND(cuda)
FBP_BACKEND(gl)
FBP_BACKEND(cpu)
FBP_BACKEND(ref)
FBP_BACKEND(mock)
