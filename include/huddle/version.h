/* The version of Huddle. It is defined here and nowhere else: CMake, the names of the shared
 * libraries, the tool and the Python package read it from this file. */
#ifndef HUDDLE_VERSION_H
#define HUDDLE_VERSION_H

#define HUDDLE_VERSION_MAJOR 0
#define HUDDLE_VERSION_MINOR 3
#define HUDDLE_VERSION_PATCH 0
#define HUDDLE_VERSION       "0.3.0"

#endif
