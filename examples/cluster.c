/* Clusters the points of a file and prints their labels: cluster DATA N_CLUSTERS
 *
 *     cc cluster.c -o cluster $(pkg-config --cflags --libs huddle huddle-io)
 */
#include <huddle/huddle.h>

#include <stdio.h>

int main(int argc, char **argv) {
    huddle_data data = {0};
    huddle_model *model = NULL;
    int failed = 1;
    if (argc != 3) {
        fprintf(stderr, "usage: cluster DATA N_CLUSTERS\n");
        return 2;
    }
    if (huddle_data_read(NULL, argv[1], NULL, &data) == HUDDLE_OK &&
        huddle_model_new(huddle_default_method(), &model) == HUDDLE_OK &&
        huddle_model_set_option(model, "n_clusters", argv[2]) == HUDDLE_OK &&
        huddle_model_fit(NULL, model, &data.points) == HUDDLE_OK) {
        const int32_t *labels = huddle_model_labels(model, NULL);
        for (int64_t i = 0; i < data.points.n; i++)
            printf("%d\n", labels[i]);
        failed = 0;
    } else {
        fprintf(stderr, "cluster: %s\n", huddle_last_error());
    }
    huddle_model_free(model);
    huddle_data_free(&data);
    return failed;
}
