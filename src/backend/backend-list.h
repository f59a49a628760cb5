/* One line each, in the order in which `auto` prefers them. */
FBP_BACKEND(cuda)
FBP_BACKEND(gl)
FBP_BACKEND(cpu)
FBP_BACKEND(ref)
FBP_BACKEND(mock)
