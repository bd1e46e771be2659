/* Each allocation of a fit, its scores, its info and a prediction fails in turn, for every method:
 * an error, no crash and nothing lost. */
#include "huddle/huddle.h"
#include "promises.h"
#include "support/support.h"

enum { N = 48 };

typedef struct faulty {
    const char *method;
    const huddle_points *x;
} faulty;

static huddle_status fit_and_predict(void *argument) {
    const faulty *f = argument;
    int32_t labels[N];
    huddle_context *context = NULL;
    huddle_model *model = NULL;
    char *json = NULL;
    huddle_status status = new_on_one_thread(f->method, "4", &context, &model);
    if (status == HUDDLE_OK)
        status = huddle_model_fit(context, model, f->x);
    if (status == HUDDLE_OK)
        status = huddle_model_score(context, model, f->x);
    if (status == HUDDLE_OK)
        status = huddle_model_info_json(model, &json);
    if (status == HUDDLE_OK)
        status = huddle_model_predict(context, model, f->x, labels);
    huddle_free(json);
    huddle_model_free(model);
    huddle_context_free(context);
    return status;
}

static void each_allocation_may_fail(const char *method) {
    huddle_points x = new_clouds(N);
    faulty f = {method, &x};
    test_each_allocation(fit_and_predict, &f);
    huddle_points_free(&x);
}

PROMISE(each_allocation_may_fail)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
