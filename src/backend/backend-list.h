/* One line a backend, in the order `auto` prefers them; the last resort last. */
FBP_BACKEND(cuda)
FBP_BACKEND(cpu)
FBP_BACKEND(ref)
FBP_BACKEND(mock)
FBP_BACKEND(model)
