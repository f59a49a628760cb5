# libfbp_mpi.so: several processes by Open MPI.  Neither libfbp nor the command needs it.
add_library(fbp_mpi MODULE modules/mpi.c)
target_include_directories(fbp_mpi PRIVATE include src)
target_include_directories(fbp_mpi SYSTEM PRIVATE ${OPENMPI_INCLUDE_DIRS})
target_link_libraries(fbp_mpi PRIVATE fbp_small_frames ${OPENMPI_LINK_LIBRARIES} Threads::Threads
    ${CMAKE_DL_LIBS})
install(TARGETS fbp_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT mpi)
