/* The version of Huddle. This is the only place that states it: CMake, the shared library's
 * name, the tool, the Python package and the documents all read it from here. */
#ifndef HUDDLE_VERSION_H
#define HUDDLE_VERSION_H

#define HUDDLE_VERSION_MAJOR 0
#define HUDDLE_VERSION_MINOR 1
#define HUDDLE_VERSION_PATCH 0
#define HUDDLE_VERSION       "0.1.0"

#endif
