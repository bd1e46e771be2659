/* labels FILE METHOD N_CLUSTERS SEED: prints the labels of the C library, one per line. */
#include <huddle/huddle.h>

#include <inttypes.h>
#include <stdio.h>

static int fail(void) {
    fprintf(stderr, "%s\n", huddle_last_error());
    return 1;
}

int main(int count, char **words) {
    huddle_data data = {0};
    huddle_model *model = NULL;
    int64_t n = 0;
    if (count != 5 || huddle_data_read(NULL, words[1], NULL, &data) != HUDDLE_OK ||
        huddle_model_new(words[2], &model) != HUDDLE_OK ||
        huddle_model_set_option(model, "n_clusters", words[3]) != HUDDLE_OK ||
        huddle_model_set_option(model, "seed", words[4]) != HUDDLE_OK ||
        huddle_model_fit(NULL, model, &data.points) != HUDDLE_OK)
        return fail();
    const int32_t *labels = huddle_model_labels(model, &n);
    for (int64_t i = 0; i < n; i++)
        printf("%" PRId32 "\n", labels[i]);
    huddle_model_free(model);
    huddle_data_free(&data);
    return 0;
}
