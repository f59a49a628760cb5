/* One line a backend, in the order `auto` prefers them; the last resort last.  gl stands behind
 * cpu, where `auto` never comes to: its renderers may be software, and of none in hardware has it
 * been measured that it beats the CPU. */
FBP_BACKEND(cuda)
FBP_BACKEND(cpu)
FBP_BACKEND(gl)
FBP_BACKEND(ref)
FBP_BACKEND(mock)
FBP_BACKEND(model)
