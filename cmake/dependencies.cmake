# What the library stands on. Debian: libopenblas-dev liblapacke-dev libsuitesparse-dev
# libarpack2-dev libhdf5-dev libpng-dev libjansson-dev zlib1g-dev.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(blas REQUIRED IMPORTED_TARGET openblas)
pkg_check_modules(lapacke REQUIRED IMPORTED_TARGET lapacke)
pkg_check_modules(arpack REQUIRED IMPORTED_TARGET arpack)
pkg_check_modules(hdf5 REQUIRED IMPORTED_TARGET hdf5)
pkg_check_modules(libpng REQUIRED IMPORTED_TARGET libpng)
pkg_check_modules(jansson REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(zlib REQUIRED IMPORTED_TARGET zlib)

# SuiteSparse ships no pkg-config file in Debian 12.
find_path(cholmod_include cholmod.h PATH_SUFFIXES suitesparse REQUIRED)
find_library(amd_library amd REQUIRED)
set(suitesparse ${amd_library})
if(HUDDLE_GPL)
  find_library(cholmod_library cholmod REQUIRED)
  list(APPEND suitesparse ${cholmod_library})
  add_compile_definitions(HUDDLE_GPL=1)
else()
  add_compile_definitions(HUDDLE_GPL=0)
endif()
add_library(huddle_suitesparse INTERFACE)
target_include_directories(huddle_suitesparse SYSTEM INTERFACE ${cholmod_include})
target_link_libraries(huddle_suitesparse INTERFACE ${suitesparse})

set(huddle_libraries PkgConfig::lapacke PkgConfig::blas PkgConfig::arpack huddle_suitesparse
    PkgConfig::hdf5 PkgConfig::libpng PkgConfig::jansson PkgConfig::zlib Threads::Threads m)
set(huddle_headers ${huddle_libraries})
