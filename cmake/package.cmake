# Packages for Debian and Ubuntu: `cpack` in a build whose prefix is /usr (the preset "package").  A
# component of the install is a package; what each needs of the system is read from its libraries.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME fbp)
set(CPACK_PACKAGE_VENDOR "The fbp developers")
set(CPACK_PACKAGE_CONTACT "The fbp developers <fbp@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})

configure_file(packaging/copyright.in package/copyright @ONLY)
file(WRITE ${CMAKE_BINARY_DIR}/package/triggers "activate-noawait ldconfig\n")
set(CPACK_COMPONENTS_ALL "")

# fbp_package(COMPONENT NAME SECTION SUMMARY TEXT DEPENDS): what is installed as this component is a
# package of this name.
function(fbp_package component name section summary text depends)
    set(doc ${CMAKE_INSTALL_DATADIR}/doc/${name})
    install(FILES ${CMAKE_BINARY_DIR}/package/copyright DESTINATION ${doc}
        COMPONENT ${component})
    string(TOUPPER ${component} key)
    set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${component} PARENT_SCOPE)
    set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name} PARENT_SCOPE)
    set(CPACK_DEBIAN_${key}_PACKAGE_SECTION ${section} PARENT_SCOPE)
    set(CPACK_DEBIAN_${key}_PACKAGE_DEPENDS "${depends}" PARENT_SCOPE)
    set(CPACK_DEBIAN_${key}_DESCRIPTION "${summary}\n${text}" PARENT_SCOPE)
    set(CPACK_DEBIAN_${key}_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/package/triggers PARENT_SCOPE)
endfunction()

set(same "(= ${PROJECT_VERSION}-1)")
fbp_package(library libfbp0 libs "filtered backprojection: the library"
    "Reconstructs volumes from projections of cone-beam, fan-beam and parallel-beam\nscanners, C-arms and EPR imaging." "")
fbp_package(command fbp science "filtered backprojection: the command"
    "Reconstructs, simulates, compares and looks at tomographic scans and volumes." "")
fbp_package(development libfbp-dev libdevel "filtered backprojection: headers"
    "Headers for C and C++, a CMake package and files for pkg-config."
    "libfbp0 ${same}")
if(FBP_BENCH)
    fbp_package(bench fbp-bench science "filtered backprojection: benchmarks"
        "Benchmarks of fbp, the jobs of five papers, and modules for RabbitCT." "fbp ${same}")
endif()
fbp_package(matlab fbp-matlab science "filtered backprojection: functions for MATLAB and Octave"
    "Sources and scripts, to be compiled by MATLAB or Octave." "libfbp-dev ${same}")
if(TARGET fbp_gl)
    fbp_package(gl libfbp-gl libs "filtered backprojection: on any GPU by OpenGL"
        "A module for libfbp0." "libfbp0 ${same}")
    set(CPACK_DEBIAN_LIBRARY_PACKAGE_SUGGESTS libfbp-gl)
endif()
if(TARGET fbp_cuda)
    fbp_package(cuda libfbp-cuda libs "filtered backprojection: on NVIDIA GPUs"
        "A module for libfbp0.  It needs NVIDIA's driver, and cuFFT for most of its filters."
        "libfbp0 ${same}")
endif()
if(TARGET fbp_mpi)
    fbp_package(mpi libfbp-mpi libs "filtered backprojection: several processes by Open MPI"
        "A module for libfbp0." "libfbp0 ${same}")
endif()
include(CPack)
