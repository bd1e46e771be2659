/* Uses the installed library as a stranger would. */
#include <huddle/huddle.h>

#include <stdio.h>

int main(void) {
    huddle_data data = {0};
    huddle_model *model = NULL;
    huddle_scores scores;
    if (huddle_data_read(NULL, "digits", NULL, &data) != HUDDLE_OK ||
        huddle_model_new("kmeans", &model) != HUDDLE_OK ||
        huddle_model_set_option(model, "n_clusters", "10") != HUDDLE_OK ||
        huddle_model_set_option(model, "n_init", "5") != HUDDLE_OK ||
        huddle_model_fit(NULL, model, &data.points) != HUDDLE_OK ||
        huddle_metrics_scores(NULL, data.points.n, data.labels, huddle_model_labels(model, NULL),
                              &scores) != HUDDLE_OK) {
        fprintf(stderr, "%s\n", huddle_last_error());
        return 1;
    }
    printf("huddle %s: ACC %.3f\n", huddle_version(), scores.acc);
    huddle_model_free(model);
    huddle_data_free(&data);
    return scores.acc > 0.7 ? 0 : 1;
}
