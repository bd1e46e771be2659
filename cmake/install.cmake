# What is installed: the library, its headers, the tool, pkg-config and CMake packages. The man
# page and the completions are made by the tool itself from its tables.
include(CMakePackageConfigHelpers)

# The tool finds its library wherever the tree is put.
file(RELATIVE_PATH library_from_tool /x/${CMAKE_INSTALL_BINDIR} /x/${CMAKE_INSTALL_LIBDIR})
set_target_properties(huddle_tool PROPERTIES INSTALL_RPATH "$ORIGIN/${library_from_tool}")

install(TARGETS huddle EXPORT huddle-targets)
install(TARGETS huddle_tool)
install(DIRECTORY include/huddle TYPE INCLUDE FILES_MATCHING PATTERN "*.h")
install(EXPORT huddle-targets NAMESPACE huddle::
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/huddle)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/huddle-config.cmake
     CONTENT "include(\"\${CMAKE_CURRENT_LIST_DIR}/huddle-targets.cmake\")\n" @ONLY)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/huddle-config-version.cmake
                                 COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/generated/huddle-config.cmake
              ${CMAKE_BINARY_DIR}/generated/huddle-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/huddle)
file(RELATIVE_PATH huddle_pc_prefix /x/${CMAKE_INSTALL_LIBDIR}/pkgconfig /x)
configure_file(cmake/huddle.pc.in ${CMAKE_BINARY_DIR}/generated/huddle.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/generated/huddle.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The Python package, where Debian's Python looks below the prefix. It finds the library by itself.
execute_process(COMMAND /usr/bin/python3 -c "import sysconfig; print(sysconfig.get_path('purelib'))"
                OUTPUT_VARIABLE huddle_purelib OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
string(REGEX MATCH "lib/python[^/]*/[^/]*$" huddle_purelib "${huddle_purelib}")
if(huddle_purelib)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/huddle DESTINATION ${huddle_purelib}
          FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed"
          PATTERN "__pycache__" EXCLUDE)
endif()
