/* Labels of new points, which may have several views, and the shifts that they need for that. */
#include "model/model.h"

#include "base/blas.h"
#include "base/check.h"
#include "base/slabs.h"

/* NULL if all shifts are zero: points without a shift need no conversion. */
const double *huddle_model_view_shift(const huddle_model *model, int32_t view, int64_t *d) {
    const hd_fit *fit = &model->fit;
    bool there = view >= 0 && view < hd_fit_count_views(fit);
    const hd_fit_one_view *other = there && view > 0 ? &fit->views.items[view] : NULL;
    const double *shift = !there          ? NULL
                          : other != NULL ? other->prepared.shift
                                          : fit->prepared.shift;
    int64_t features = other != NULL ? other->d : fit->d;
    if (d != NULL)
        *d = shift != NULL ? features : 0;
    for (int64_t j = 0; shift != NULL && j < features; j++)
        if (shift[j] != 0)
            return shift;
    return NULL;
}

const double *huddle_model_shift(const huddle_model *model, int64_t *d) {
    return huddle_model_view_shift(model, 0, d);
}

/* Whether points must be converted to a shift, if that is known. */
static bool needs_rebase(const double *shift, int64_t d, const huddle_points *x) {
    if (x->offsets != NULL || shift == NULL || x->d != d)
        return false;
    for (int64_t j = 0; j < x->d; j++)
        if ((x->shift != NULL ? x->shift[j] : 0) != shift[j])
            return true;
    return false;
}

static huddle_status check_new(huddle_context *context, const hd_fit *fit, int32_t n_views,
                               const huddle_points *x) {
    huddle_status status = HUDDLE_OK;
    int32_t count = hd_fit_count_views(fit);
    if (n_views != count)
        FAIL(HUDDLE_INVALID, "the model was fitted to %d view%s of its points, but there %s %d",
             count, count == 1 ? "" : "s", n_views == 1 ? "is" : "are", n_views);
    if (count > 1)
        TRY(hd_slabs_refuse(context, "labelling points in several views"));
    for (int32_t v = 0; v < count; v++) {
        status = huddle_points_check(context, &x[v]);
        if (status == HUDDLE_OK && x[v].n != x[0].n)
            status = hd_fail(HUDDLE_INVALID, "there are %lld rows, but %lld in the first",
                             (long long)x[v].n, (long long)x[0].n);
        int64_t d = v > 0 ? fit->views.items[v].d : count > 1 ? fit->d : x[v].d;
        if (status == HUDDLE_OK && x[v].d != d)
            status = hd_fail(HUDDLE_INVALID,
                             "there are %lld features, the model was fitted to "
                             "%lld",
                             (long long)x[v].d, (long long)d);
        if (status != HUDDLE_OK && count > 1)
            status = hd_fail_at(status, "view %d", v + 1);
        TRY(status);
    }
done:
    return status;
}

/* Training points were rounded to float relative to the model's shift. The same row, rounded
 * relative to another shift, would be a different row. */
huddle_status hd_model_open_new(huddle_context *context, const hd_fit *fit, int32_t n_views,
                                const huddle_points *x, hd_model_new *opened) {
    huddle_status status = HUDDLE_OK;
    *opened = (hd_model_new){.count = n_views};
    TRY(check_new(context, fit, n_views, x));
    for (int32_t v = 0; v < n_views; v++) {
        const hd_fit_one_view *other = v > 0 ? &fit->views.items[v] : NULL;
        const double *shift = other != NULL ? other->prepared.shift : fit->prepared.shift;
        int64_t d = other != NULL ? other->d : fit->d;
        opened->points[v] = x[v];
        if (!needs_rebase(shift, d, &x[v]))
            continue;
        TRY(huddle_points_rebase(context, &x[v], shift, &opened->rebased[v]));
        opened->points[v] = opened->rebased[v];
    }
done:
    return status;
}

void hd_model_close_new(hd_model_new *opened) {
    for (int32_t v = 0; v < opened->count && v < HD_FIT_MAX_VIEWS; v++)
        huddle_points_free(&opened->rebased[v]);
}

/* Where each process has all training rows, from a file, it labels its rows alone. */
huddle_status hd_model_is_distributed(huddle_context *context, const huddle_model *model,
                                      bool *distributed) {
    double elsewhere = (double)model->fit.rows.elsewhere;
    huddle_status status = hd_reduce_max(context, 1, &elsewhere);
    *distributed = elsewhere > 0;
    return status;
}

/* Options are those of the fit, not those set since. */
static huddle_status predict_rows(huddle_context *context, const huddle_model *model,
                                  const huddle_points *x, int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    bool distributed;
    TRY(hd_model_check_whole(context, model, "label new points"));
    TRY(hd_model_is_distributed(context, model, &distributed));
    bool alone = hd_slabs_distributed(context) && !distributed;
    hd_alone before = hd_alone_begin_if(context, alone);
    if (!alone || x->n > 0)
        status = hd_method_predict(model->method, context, &model->fit, model->fitted_options, x,
                                   labels);
    hd_alone_end(context, before);
done:
    return status;
}

/* Equal rows may differ in the last bit after preparation; they must get the same label. */
static huddle_status unify_labels(huddle_context *context, const hd_model_new *opened,
                                  int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    huddle_distinct parts[HD_FIT_MAX_VIEWS] = {0}, joined = {0}, *distinct = parts;
    for (int32_t v = 0; v < opened->count; v++)
        TRY(huddle_points_distinct(context, &opened->points[v], &parts[v]));
    if (opened->count > 1) {
        TRY(huddle_distinct_join(context, opened->count, parts, &joined));
        distinct = &joined;
    }
    for (int64_t i = 0; i < distinct->n && distinct->of != NULL; i++)
        labels[i] = labels[distinct->first[distinct->of[i]]];
done:
    for (int32_t v = 0; v < opened->count; v++)
        huddle_distinct_free(&parts[v]);
    huddle_distinct_free(&joined);
    return status;
}

huddle_status huddle_model_predict_views(huddle_context *context, const huddle_model *model,
                                         int32_t n_views, const huddle_points *views,
                                         int32_t *labels) {
    huddle_status status = HUDDLE_OK;
    huddle_context *own = NULL;
    hd_model_new opened = {0};
    TRY(hd_model_borrow_context(context, &own, &context));
    TRY(hd_model_check_fitted(model));
    TRY(hd_model_open_new(context, &model->fit, n_views, views, &opened));
    TRY(hd_model_reserve_blas(context, model->method));
    hd_blas_enter();
    status = predict_rows(context, model, opened.points, labels);
    hd_blas_leave();
    TRY(status);
    TRY(unify_labels(context, &opened, labels));
done:
    status = context != NULL ? hd_agree(context, status) : status;
    hd_model_close_new(&opened);
    huddle_context_free(own);
    return status;
}

huddle_status huddle_model_predict(huddle_context *context, const huddle_model *model,
                                   const huddle_points *x, int32_t *labels) {
    return huddle_model_predict_views(context, model, 1, x, labels);
}
