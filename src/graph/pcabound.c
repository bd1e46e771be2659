#include "graph/search.h"

huddle_status hd_search_pcabound(huddle_context *context, hd_search *search) {
    return hd_search_brute(context, search);
}
