/* refine: the heap, the hubs and the numbers of labels, against plain loops over all items. */
#include "base/rng.h"
#include "matrix/labels.h"
#include "refine/hub.h"
#include "refine/refine.h"
#include "support/support.h"

#include <string.h>

/* ---- heaps ---------------------------------------------------------------------------------- */

enum { ITEMS = 60 };

/* The cluster of the largest key, of equal ones the smallest; -1 without clusters. */
static int32_t find_largest(const bool *present, const uint32_t *key) {
    int32_t best = -1;
    for (int32_t k = 0; k < ITEMS; k++)
        if (present[k] && (best < 0 || key[k] > key[best]))
            best = k;
    return best;
}

/* Keys are few, so that many are equal. Clusters are removed from any place: the last item, which
 * takes it, may then belong above or below. */
static void the_top_of_a_heap_is_the_largest(void **state) {
    (void)state;
    hd_rng rng = hd_rng_stream(1, 0);
    for (int trial = 0; trial < 40; trial++) {
        hd_refine_heap heap;
        bool present[ITEMS];
        uint32_t key[ITEMS];
        int64_t most = trial % 2 == 0 ? 12 : 1000000;
        assert_ok(hd_refine_heap_new(ITEMS, true, &heap));
        for (int32_t k = 0; k < ITEMS; k++) {
            present[k] = true;
            key[k] = (uint32_t)hd_rng_below(&rng, most);
            hd_refine_heap_add(&heap, k, key[k]);
        }
        hd_refine_heap_order(&heap);
        for (int32_t left = ITEMS; left > 0;) {
            int32_t k = (int32_t)hd_rng_below(&rng, ITEMS);
            assert_int_equal(hd_refine_heap_top(&heap), find_largest(present, key));
            if (!present[k])
                continue;
            if (hd_rng_below(&rng, 4) == 0) {
                hd_refine_heap_remove(&heap, k);
                present[k] = false;
                left--;
            } else {
                key[k] = (uint32_t)hd_rng_below(&rng, most);
                hd_refine_heap_change(&heap, k, key[k]);
            }
        }
        assert_int_equal(heap.count, 0);
        hd_refine_heap_free(&heap);
    }
}

/* ---- hubs ----------------------------------------------------------------------------------- */

typedef struct item {
    int32_t name;
    uint32_t key;
} item;

static int64_t find_top(int64_t count, const item *items) {
    int64_t best = 0;
    for (int64_t k = 1; k < count; k++)
        if (items[k].key > items[best].key ||
            (items[k].key == items[best].key && items[k].name < items[best].name))
            best = k;
    return best;
}

/* Names collide in the table: there are many more of them than places. */
static void a_hub_knows_its_weights_and_its_largest_key(void **state) {
    (void)state;
    enum { NAMES = 100000, MOST = 4 * ITEMS };
    static double weight[NAMES];
    hd_rng rng = hd_rng_stream(2, 0);
    for (int trial = 0; trial < 20; trial++) {
        hd_refine_hub hub;
        item items[MOST];
        int32_t given[MOST];
        int64_t count = 0, n_given = 0;
        assert_ok(hd_refine_hub_new(ITEMS, &hub));
        while (!hd_refine_hub_is_full(&hub)) {
            int32_t name = n_given > 0 && hd_rng_below(&rng, 3) == 0
                               ? given[hd_rng_below(&rng, n_given)]
                               : (int32_t)hd_rng_below(&rng, NAMES);
            items[count] = (item){name, (uint32_t)hd_rng_below(&rng, 50)};
            weight[name] = 1 + hd_rng_uniform(&rng);
            given[n_given++] = name;
            hd_refine_hub_put(&hub, name, weight[name], items[count++].key);
            if (hd_rng_below(&rng, 3) == 0) {
                int64_t top = find_top(count, items);
                uint32_t lower = (uint32_t)hd_rng_below(&rng, items[top].key + 1);
                bool remove = hd_rng_below(&rng, 2) == 0;
                if (remove)
                    hd_refine_heap_remove_top(&hub.pairs);
                else
                    hd_refine_heap_change_top(&hub.pairs, lower);
                items[top] = remove ? items[--count] : (item){items[top].name, lower};
            }
            if (count > 0) {
                int64_t top = find_top(count, items);
                assert_int_equal(hd_refine_heap_top(&hub.pairs), items[top].name);
                assert_int_equal(hd_refine_heap_top_key(&hub.pairs), items[top].key);
            }
        }
        assert_true(n_given >= ITEMS);
        for (int32_t name = 0; name < NAMES; name++)
            assert_true(hd_refine_hub_weight(&hub, name) == weight[name]);
        for (int64_t k = 0; k < n_given; k++)
            weight[given[k]] = 0;
        hd_refine_hub_free(&hub);
    }
}

/* ---- labels --------------------------------------------------------------------------------- */

/* Labels of narrow and of wide ranges, some of them negative. */
static void ranks_count_the_smaller_labels(void **state) {
    (void)state;
    enum { N = 90 };
    static const int64_t ranges[] = {1, 7, 2 * N, 2 * N + 1, 3000000000};
    hd_rng rng = hd_rng_stream(3, 0);
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
        int32_t labels[N], ranks[N];
        int64_t count, different = 0;
        for (int64_t i = 0; i < N; i++)
            labels[i] = i % 3 == 2 ? labels[i - 2]
                                   : (int32_t)(hd_rng_below(&rng, ranges[r]) - ranges[r] / 2);
        assert_ok(hd_rank_labels(NULL, N, labels, ranks, &count, NULL));
        for (int64_t i = 0; i < N; i++) {
            int64_t smaller = 0;
            bool is_first = true;
            for (int64_t j = 0; j < N; j++) {
                bool repeated = false; /* every smaller label is counted at its first place */
                for (int64_t k = 0; k < j; k++)
                    repeated = repeated || labels[k] == labels[j];
                smaller += labels[j] < labels[i] && !repeated;
                is_first = is_first && !(j < i && labels[j] == labels[i]);
            }
            assert_int_equal(ranks[i], smaller);
            different += is_first;
        }
        assert_int_equal(count, different);
    }
}

/* The numbers of a reference are kept only if it has all of them. */
static void clusters_have_the_numbers_of_the_model_or_of_their_order(void **state) {
    (void)state;
    enum { N = 8 };
    static const int32_t found[N] = {2, 2, 2, 0, 0, 1, 1, 1};
    static const struct {
        int32_t reference[N], wanted[N];
        int64_t n_changed;
    } cases[] = {{{1, 1, 1, 2, 2, 0, 0, 0}, {1, 1, 1, 2, 2, 0, 0, 0}, 0},
                 {{1, 1, 2, 2, 2, 0, 0, 0}, {1, 1, 1, 2, 2, 0, 0, 0}, 1},
                 /* One more label: clusters are numbered by their first vertices. */
                 {{3, 3, 3, 2, 2, 1, 1, 0}, {0, 0, 0, 1, 1, 2, 2, 2}, 1},
                 /* Three labels that are not 0, 1 and 2. */
                 {{3, 3, 3, 2, 2, 0, 0, 0}, {0, 0, 0, 1, 1, 2, 2, 2}, 0},
                 {{1, 1, 1, -1, -1, 0, 0, 0}, {0, 0, 0, 1, 1, 2, 2, 2}, 0}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        int32_t labels[N];
        int64_t n_changed;
        memcpy(labels, found, sizeof labels);
        assert_ok(hd_refine_number(NULL, N, 3, cases[k].reference, labels, &n_changed));
        assert_memory_equal(labels, cases[k].wanted, sizeof labels);
        assert_int_equal(n_changed, cases[k].n_changed);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_top_of_a_heap_is_the_largest),
        cmocka_unit_test(a_hub_knows_its_weights_and_its_largest_key),
        cmocka_unit_test(ranks_count_the_smaller_labels),
        cmocka_unit_test(clusters_have_the_numbers_of_the_model_or_of_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
