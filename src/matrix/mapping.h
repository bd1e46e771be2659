/* Who owns the values of points if they were not allocated: a file that is mapped into memory. Its
 * maker, a reader, makes one of these as the beginning of a struct of its own. */
#ifndef HUDDLE_SRC_MAPPING_H
#define HUDDLE_SRC_MAPPING_H

#include "huddle/matrix.h"

struct huddle_mapping {
    void (*free)(huddle_mapping *mapping);
};

#endif
