#include "base/thread.h"

#include <stddef.h>

bool hd_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument) {
    static const size_t stack_size = (size_t)8 << 20;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    bool started = pthread_attr_setstacksize(&attributes, stack_size) == 0 &&
                   pthread_create(thread, &attributes, run, argument) == 0;
    pthread_attr_destroy(&attributes);
    return started;
}
