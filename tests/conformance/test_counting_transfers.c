/* What a fit sends to an engine with a memory of its own, and what it fetches from there: the exact
 * numbers of a whole fit and of a prediction, so that a stage that goes through the host unasked is
 * noticed. */
#include "base/context.h"
#include "base/rng.h"
#include "engines/counting.h"
#include "huddle/huddle.h"
#include "matrix/resident.h"
#include "model/model.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 96, D = 4, C = 3 };

static huddle_context *context_for(const char *options) {
    huddle_context *context;
    assert_ok(huddle_context_new(&context));
    assert_ok(hd_context_use_engine(context, &counting_engine, options));
    return context;
}

static huddle_points clouds(int64_t n, uint64_t seed) {
    static const double centres[C][D] = {{0, 0, 0, 1}, {7, 0, 2, 1}, {3, 6, 0, 1}};
    huddle_points x;
    assert_ok(huddle_points_new(n, D, &x));
    for (int64_t i = 0; i < n; i++) {
        hd_rng rng = hd_rng_stream(seed, (uint64_t)i);
        int64_t own = i % C, other = (i / C + own) % C;
        double way = i >= C * 28 ? .36 : 0;
        for (int64_t j = 0; j < D; j++)
            x.values[i * D + j] = (float)((1 - way) * centres[own][j] + way * centres[other][j] +
                                          .6 * hd_rng_normal(&rng));
    }
    return x;
}
static void print(const char*w, counting_state *s){
 fprintf(stderr,"%s\n",w);
 for(int k=0;k<N_COUNTING_KINDS;k++) fprintf(stderr,"kind %d sent %lld (%lld) fetched %lld (%lld)\n",k,(long long)s->sent.count[k],(long long)s->sent.bytes[k],(long long)s->fetched.count[k],(long long)s->fetched.bytes[k]);
 for(int k=0;k<N_COUNTING_STAGES;k++) if(s->calls[k]) fprintf(stderr,"   %s %lld\n",counting_stage_name(k),(long long)s->calls[k]);
}
static void probe(void **state){
 (void)state;
 const char*prep[]={"none","auto"};
 for(int a=0;a<4;a++){
  huddle_context*c=context_for("resident"); huddle_points x=clouds(N,1); huddle_model*m;
  assert_ok(huddle_model_new("ssc",&m));
  huddle_model_set_option(m,"n_clusters","3");huddle_model_set_option(m,"prepare",prep[a%2]);huddle_model_set_option(m,"refine",prep[a/2]);
  huddle_model_set_option(m,"connect",getenv("CONNECT")?getenv("CONNECT"):"true");
  assert_ok(huddle_model_fit(c,m,&x));
  char t[64];snprintf(t,64,"prepare %s refine %s",prep[a%2],prep[a/2]);print(t,counting_state_of(c));
  counting_forget(counting_state_of(c)); int32_t l[N];
  assert_ok(huddle_model_predict(c,m,&x,l)); print("predict",counting_state_of(c));
  counting_forget(counting_state_of(c));
  assert_ok(huddle_model_predict(c,m,&x,l)); print("predict again",counting_state_of(c));
  huddle_model_free(m);huddle_points_free(&x);huddle_context_free(c);
 }
}
int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
