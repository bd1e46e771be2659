/* Part of the tool in coverage builds. Transcripts run it as another user and on full discs, where
 * its profile cannot be written; what libgcov says about that at the very end is not the tool's. */
#include <unistd.h>

/* Runs before libgcov's own, which has a lower priority. */
__attribute__((destructor)) static void close_standard_error(void) {
    (void)close(STDERR_FILENO);
}
