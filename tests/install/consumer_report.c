/* Writes a report with the installed libraries: consumer_report FILE. */
#include <huddle/report.h>

#include <stdio.h>

int main(int argc, char **argv) {
    float values[] = {0, 1, 2, 20, 21, 22};
    huddle_points x = {.n = 6, .d = 1, .stride = 1, .values = values};
    huddle_model *model = NULL;
    if (argc != 2 || huddle_model_new("kmeans", &model) != HUDDLE_OK ||
        huddle_model_set_option(model, "n_clusters", "2") != HUDDLE_OK ||
        huddle_model_fit(NULL, model, &x) != HUDDLE_OK ||
        huddle_report_write(NULL, model, &x, NULL, argv[1]) != HUDDLE_OK) {
        fprintf(stderr, "%s\n", huddle_last_error());
        return 1;
    }
    huddle_model_free(model);
    return 0;
}
