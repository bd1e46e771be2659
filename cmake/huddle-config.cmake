# find_package(huddle) defines huddle::huddle (libhuddle) and huddle::io (libhuddle-io: readers and
# writers). find_package(huddle COMPONENTS io) states that the latter is needed.
include("${CMAKE_CURRENT_LIST_DIR}/huddle-targets.cmake")
foreach(component IN LISTS huddle_FIND_COMPONENTS)
  if(TARGET huddle::${component})
    set(huddle_${component}_FOUND TRUE)
  elseif(huddle_FIND_REQUIRED_${component})
    set(huddle_FOUND FALSE)
    set(huddle_NOT_FOUND_MESSAGE "huddle has no component ${component}")
  endif()
endforeach()
