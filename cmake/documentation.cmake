# Man pages and completion for bash, zsh and fish, made by the command that was built, and installed.
# Not where that cannot run here, or is not meant for users.
include(GNUInstallDirs)
if(CMAKE_CROSSCOMPILING OR FBP_SANITIZE OR FBP_FUZZ)
    return()
endif()

set(manual ${CMAKE_BINARY_DIR}/manual)
add_custom_command(OUTPUT ${manual}/made
    COMMAND ${CMAKE_COMMAND} -D COMMAND=$<TARGET_FILE:fbp_cli> -D FOLDER=${manual}
        -P ${CMAKE_CURRENT_LIST_DIR}/make_manual.cmake
    DEPENDS fbp_cli fbp ${CMAKE_CURRENT_LIST_DIR}/make_manual.cmake
    COMMENT "Making man pages and completion")
add_custom_target(fbp_manual ALL DEPENDS ${manual}/made)
add_dependencies(product fbp_manual) # what is installed has them

install(DIRECTORY ${manual}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT command)
install(FILES ${manual}/bash/fbp DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
    COMPONENT command)
install(FILES ${manual}/zsh/_fbp DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions
    COMPONENT command)
install(FILES ${manual}/fish/fbp.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
    COMPONENT command)

if(FBP_BENCH)
    add_custom_command(OUTPUT ${manual}-bench/made
        COMMAND ${CMAKE_COMMAND} -D COMMAND=$<TARGET_FILE:fbp_bench> -D FOLDER=${manual}-bench
            -D PAGES=ON -P ${CMAKE_CURRENT_LIST_DIR}/make_manual.cmake
        DEPENDS fbp_bench ${CMAKE_CURRENT_LIST_DIR}/make_manual.cmake
        COMMENT "Making man pages of benchmarks")
    add_custom_target(fbp_bench_manual ALL DEPENDS ${manual}-bench/made)
    add_dependencies(product fbp_bench_manual)
    install(DIRECTORY ${manual}-bench/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT bench)
endif()
