# How folders become parts of the build. Every folder is globbed: adding a file is enough.

# huddle_options(TARGET OPTION...): compiler options of its C and C++ files; an engine may have files in another
# language, whose compiler does not know them.
function(huddle_options target)
  target_compile_options(${target} INTERFACE "$<$<COMPILE_LANGUAGE:C,CXX>:${ARGN}>")
endfunction()

# huddle_app_flags: warnings and sanitizers; huddle_flags: those and the library's own headers.
add_library(huddle_app_flags INTERFACE)
huddle_options(huddle_app_flags
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wvla -Wno-missing-field-initializers
  $<$<BOOL:${HUDDLE_WERROR}>:-Werror> -fno-math-errno)
target_compile_options(huddle_app_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>)
target_compile_definitions(huddle_app_flags INTERFACE _POSIX_C_SOURCE=200809L)
add_library(huddle_flags INTERFACE)
target_link_libraries(huddle_flags INTERFACE huddle_app_flags)
# "omp simd" lets the compiler reorder the sum of one loop; no OpenMP runtime is involved.
huddle_options(huddle_flags -fopenmp-simd)
target_include_directories(huddle_flags INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${CMAKE_BINARY_DIR}/generated)
if(HUDDLE_SANITIZE)
  huddle_options(huddle_app_flags
    -fsanitize=${HUDDLE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${HUDDLE_SANITIZE})
endif()
if(HUDDLE_COVERAGE)
  # Threads count together, or counters come out negative.
  huddle_options(huddle_app_flags --coverage -fprofile-update=atomic)
  add_link_options(--coverage)
endif()

set(isa_base -ffp-contract=fast)
set(isa_avx2 -ffp-contract=fast -mavx2 -mfma -mtune=haswell)
set(isa_avx512 -ffp-contract=fast -mavx512f -mavx512vl -mavx512bw -mavx512dq -mfma -mprefer-vector-width=512)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(isas base avx2 avx512)
else()
  set(isas base)
endif()

# huddle_module(NAME [LIBRARIES ...] [EXCLUDE FILE...]): all of src/NAME/ but those files. Its objects
# are huddle_NAME; tests link them, because the shared libraries hide what is not public.
# NAME.simd.c is compiled once for each instruction set.
function(huddle_module name)
  cmake_parse_arguments(PARSE_ARGV 1 module "" "" "LIBRARIES;EXCLUDE")
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.c)
  foreach(file IN LISTS module_EXCLUDE)
    list(REMOVE_ITEM sources ${PROJECT_SOURCE_DIR}/src/${name}/${file})
  endforeach()
  set(kernels ${sources})
  list(FILTER sources EXCLUDE REGEX "\\.simd\\.c$")
  list(FILTER kernels INCLUDE REGEX "\\.simd\\.c$")
  add_library(huddle_${name} OBJECT ${sources})
  target_link_libraries(huddle_${name} PRIVATE huddle_flags ${module_LIBRARIES})
  set(objects $<TARGET_OBJECTS:huddle_${name}>)
  if(kernels)
    foreach(isa IN LISTS isas)
      add_library(huddle_${name}_${isa} OBJECT ${kernels})
      target_link_libraries(huddle_${name}_${isa} PRIVATE huddle_flags)
      target_compile_options(huddle_${name}_${isa} PRIVATE ${isa_${isa}})
      target_compile_definitions(huddle_${name}_${isa} PRIVATE HD_ISA=${isa})
      list(APPEND objects $<TARGET_OBJECTS:huddle_${name}_${isa}>)
    endforeach()
  endif()
  set(huddle_objects_${name} ${objects} PARENT_SCOPE)
  set(huddle_objects ${huddle_objects} ${objects} PARENT_SCOPE)
endfunction()

# huddle_share_internals(MODULE...): other libraries of the project may call functions of these
# modules; huddle.map lists which. -fno-semantic-interposition keeps the code what it would be if
# they were hidden.
function(huddle_share_internals)
  foreach(module IN LISTS ARGN)
    set_target_properties(huddle_${module} PROPERTIES C_VISIBILITY_PRESET default)
    target_compile_options(huddle_${module} PRIVATE -fno-semantic-interposition)
  endforeach()
endfunction()

# The number in the names under which programs load the libraries (libhuddle.so.1). It is not the
# version: it is raised by the first change after a release that breaks binary compatibility.
set(huddle_soversion 1)

# huddle_library(TARGET NAME OBJECTS ... LIBRARIES ...): the shared library libNAME.so.
function(huddle_library target name)
  cmake_parse_arguments(PARSE_ARGV 2 library "" "" "OBJECTS;LIBRARIES")
  add_library(${target} SHARED ${library_OBJECTS})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                              $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PRIVATE ${library_LIBRARIES})
  target_link_options(${target} PRIVATE -Wl,--as-needed)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} VERSION ${PROJECT_VERSION}
                        SOVERSION ${huddle_soversion} INSTALL_RPATH "$ORIGIN")
endfunction()

# huddle_export_list(TARGET FILE): only the symbols in that version script are exported; calls
# inside the library do not go through the symbol table.
function(huddle_export_list target file)
  target_link_options(${target} PRIVATE -Wl,-Bsymbolic-functions
                      -Wl,--version-script=${PROJECT_SOURCE_DIR}/${file})
  set_target_properties(${target} PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/${file})
endfunction()

# Writes FILE with ENTRY(x) for each name, only when that changes it.
function(huddle_registry file entry)
  set(text "")
  foreach(name IN LISTS ARGN)
    string(APPEND text "${entry}(${name})\n")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/${file} CONTENT "${text}" @ONLY)
endfunction()

# huddle_engine_module(NAME SUMMARY): the engine is a MODULE, loaded at run time (src/engines/module.h). It is known by
# name even where it is not built.
function(huddle_engine_module name summary)
  set_property(GLOBAL APPEND_STRING PROPERTY huddle_engine_modules "MODULE(\"${name}\", \"${summary}\")\n")
endfunction()

# One engine per folder of engines/: the objects of an OBJECT library and what it links join the library,
# its name the registry. The languages of its files are enabled here, because the library is linked here.
# HUDDLE_ENGINES limits them to a list of names.
set(HUDDLE_ENGINES "all" CACHE STRING "Engines to build besides the CPU: all, or a list of names")
macro(huddle_engines)
  file(GLOB engine_folders CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/engines
       ${PROJECT_SOURCE_DIR}/engines/*/CMakeLists.txt)
  set(engine_names "")
  foreach(folder IN LISTS engine_folders)
    get_filename_component(engine ${folder} DIRECTORY)
    if(NOT HUDDLE_ENGINES STREQUAL "all" AND NOT engine IN_LIST HUDDLE_ENGINES)
      continue()
    endif()
    file(GLOB cxx_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/engines/${engine}/*.cpp)
    file(GLOB cuda_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/engines/${engine}/*.cu)
    if(cxx_files)
      enable_language(CXX)
    endif()
    if(cuda_files)
      enable_language(CUDA)
    endif()
    add_subdirectory(engines/${engine})
    if(NOT TARGET huddle_engine_${engine})
      continue()
    endif()
    get_target_property(engine_kind huddle_engine_${engine} TYPE)
    if(engine_kind STREQUAL MODULE_LIBRARY)
      continue()
    endif()
    list(APPEND engine_names ${engine})
    list(APPEND huddle_objects $<TARGET_OBJECTS:huddle_engine_${engine}>)
    get_target_property(engine_libraries huddle_engine_${engine} INTERFACE_LINK_LIBRARIES)
    if(engine_libraries)
      list(APPEND huddle_libraries ${engine_libraries})
    endif()
  endforeach()
  huddle_registry(engines.inc ENGINE ${engine_names})
  get_property(engine_modules GLOBAL PROPERTY huddle_engine_modules)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/engine_modules.inc CONTENT "${engine_modules}" @ONLY)
endmacro()

# Methods are the files of src/methods/ that define one: lda-kmeans.c defines hd_method_lda_kmeans.
macro(huddle_methods)
  file(GLOB method_files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/src/methods
       ${PROJECT_SOURCE_DIR}/src/methods/*.c)
  set(method_names "")
  foreach(file IN LISTS method_files)
    string(REGEX REPLACE "\\.c$" "" method ${file})
    string(REPLACE "-" "_" method ${method})
    file(STRINGS ${PROJECT_SOURCE_DIR}/src/methods/${file} defined
         REGEX "^const hd_method hd_method_${method} =")
    if(defined)
      list(APPEND method_names ${method})
    endif()
  endforeach()
  huddle_registry(methods.inc METHOD ${method_names})
endmacro()

# data/digits.csv compiled in: a small program turns it into a C array.
macro(huddle_digits)
  add_executable(embed_digits ${PROJECT_SOURCE_DIR}/data/embed.c)
  set_target_properties(embed_digits PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/generated)
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/generated/digits.inc
    COMMAND embed_digits ${PROJECT_SOURCE_DIR}/data/digits.csv ${CMAKE_BINARY_DIR}/generated/digits.inc
    DEPENDS embed_digits ${PROJECT_SOURCE_DIR}/data/digits.csv VERBATIM)
  add_custom_target(digits_inc DEPENDS ${CMAKE_BINARY_DIR}/generated/digits.inc)
  add_dependencies(huddle_io digits_inc)
endmacro()
