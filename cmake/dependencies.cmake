# The libraries that Huddle needs. libhuddle: BLAS and LAPACK, ARPACK, AMD and CHOLMOD, zlib.
# libhuddle-io: zlib and, as the options HUDDLE_WITH_* say, HDF5, libpng, libjpeg, libtiff, libbz2,
# liblzma and libzstd. The tool: jansson.
# Debian: libopenblas-dev liblapacke-dev libsuitesparse-dev libarpack2-dev zlib1g-dev libhdf5-dev
# libpng-dev libjpeg-dev libtiff-dev libbz2-dev liblzma-dev libzstd-dev libjansson-dev.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(blas REQUIRED IMPORTED_TARGET openblas)
pkg_check_modules(lapacke IMPORTED_TARGET lapacke)
pkg_check_modules(arpack REQUIRED IMPORTED_TARGET arpack)
pkg_check_modules(zlib REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(jansson REQUIRED IMPORTED_TARGET jansson)
# Where there is no lapacke.pc, as in conda, LAPACKE is part of OpenBLAS; Debian has it apart.
if(NOT lapacke_FOUND)
  find_path(lapacke_include lapacke.h HINTS ${blas_INCLUDE_DIRS} PATH_SUFFIXES openblas REQUIRED)
  find_library(lapacke_library NAMES lapacke openblas HINTS ${blas_LIBRARY_DIRS} REQUIRED)
  add_library(PkgConfig::lapacke INTERFACE IMPORTED)
  target_include_directories(PkgConfig::lapacke INTERFACE ${lapacke_include})
  target_link_libraries(PkgConfig::lapacke INTERFACE ${lapacke_library})
endif()
if(HUDDLE_WITH_HDF5)
  # Where MPI is installed too, plain "hdf5" may be the library that needs it.
  pkg_search_module(hdf5 REQUIRED IMPORTED_TARGET hdf5-serial hdf5)
endif()
if(HUDDLE_WITH_PNG)
  pkg_check_modules(libpng REQUIRED IMPORTED_TARGET libpng)
endif()

# Smaller libraries of readers are used if they are installed, unless HUDDLE_WITH_* is OFF.
# huddle_reader(OPTION "what it reads" FILE FOUND TARGET): FILE.c needs the library.
macro(huddle_reader name what file found target)
  option(HUDDLE_WITH_${name} "Read ${what}" ${found})
  if(HUDDLE_WITH_${name} AND NOT ${found})
    message(FATAL_ERROR "HUDDLE_WITH_${name} is ON, but its library was not found")
  elseif(HUDDLE_WITH_${name})
    list(APPEND huddle_reader_libraries ${target})
  else()
    message(STATUS "This build reads no ${what}: HUDDLE_WITH_${name} is OFF")
    list(APPEND huddle_reader_excluded ${file}.c)
  endif()
  list(APPEND huddle_reader_definitions HUDDLE_WITH_${name}=$<BOOL:${HUDDLE_WITH_${name}}>)
endmacro()
pkg_check_modules(libjpeg QUIET IMPORTED_TARGET libjpeg)
pkg_check_modules(libtiff QUIET IMPORTED_TARGET libtiff-4)
pkg_check_modules(liblzma QUIET IMPORTED_TARGET liblzma)
pkg_check_modules(libzstd QUIET IMPORTED_TARGET libzstd)
find_package(BZip2 QUIET) # Debian's has no pkg-config file
foreach(found libjpeg_FOUND libtiff_FOUND liblzma_FOUND libzstd_FOUND BZIP2_FOUND)
  if(NOT ${found})
    set(${found} 0)
  endif()
endforeach()
huddle_reader(JPEG "JPEG images" jpeg ${libjpeg_FOUND} PkgConfig::libjpeg)
huddle_reader(TIFF "TIFF images" tiff ${libtiff_FOUND} PkgConfig::libtiff)
huddle_reader(BZIP2 "files packed by bzip2" bzip2 ${BZIP2_FOUND} BZip2::BZip2)
huddle_reader(XZ "files packed by xz" xz ${liblzma_FOUND} PkgConfig::liblzma)
huddle_reader(ZSTD "files packed by zstd" zstd ${libzstd_FOUND} PkgConfig::libzstd)

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

set(huddle_core_libraries PkgConfig::lapacke PkgConfig::blas PkgConfig::arpack huddle_suitesparse
    PkgConfig::zlib Threads::Threads m)

# Readers whose library is left out are not compiled: the tables in formats.c, image.c and unpack.c
# do without them. Such files are refused with a message.
set(huddle_io_libraries PkgConfig::zlib Threads::Threads m)
if(HUDDLE_WITH_HDF5)
  list(APPEND huddle_io_libraries PkgConfig::hdf5)
else()
  set(huddle_io_excluded hdf5.c hdf5_driver.c hdf5_trial.c hdf5_write.c mat73.c)
endif()
if(HUDDLE_WITH_PNG)
  list(APPEND huddle_io_libraries PkgConfig::libpng)
else()
  list(APPEND huddle_io_excluded png.c)
endif()
list(APPEND huddle_io_libraries ${huddle_reader_libraries})
list(APPEND huddle_io_excluded ${huddle_reader_excluded})

# Tests and benchmarks link objects of both libraries.
set(huddle_libraries ${huddle_core_libraries} ${huddle_io_libraries})
list(REMOVE_DUPLICATES huddle_libraries)
