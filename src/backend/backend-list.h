/* All backends, one line each, in the order of preference of `auto`; included by backend.c. */
FBP_BACKEND(cuda)
FBP_BACKEND(gl)
FBP_BACKEND(cpu)
FBP_BACKEND(ref)
FBP_BACKEND(mock)
