// The headers are usable from C++.
#include <huddle/huddle.h>

#include <cstdio>

int main()
{
    huddle_kmeans_options options = huddle_kmeans_defaults();
    std::printf("huddle %s, n_init %d\n", huddle_version(), options.n_init);
    return options.n_init > 0 ? 0 : 1;
}
