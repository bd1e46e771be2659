/* How much memory and how many CPUs the machine has for this process. */
#ifndef HUDDLE_SRC_MACHINE_H
#define HUDDLE_SRC_MACHINE_H

#include "huddle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that the process can still allocate: the smallest of what the system has available
 * (without swap) and what control groups (versions 1 and 2) and resource limits leave. root is ""
 * or, in tests, a folder in which proc/ and sys/ are looked for. INT64_MAX if nothing is known. */
int64_t hd_machine_available(const char *root);

/* The same without what the system has available: limits that cannot be exceeded at all. */
int64_t hd_machine_hard_limit(const char *root);

/* Bytes of memory of the process that no file contains; 0 if not known. */
int64_t hd_machine_private(const char *root);

/* The CPUs that quotas of control groups (version 2) grant, at least 1; INT64_MAX without a quota.
 * A container that limits CPU time does not change the CPU affinity. */
int64_t hd_machine_cpus(const char *root);

/* The most memory that the process had, with pages of mapped files. */
int64_t hd_machine_peak(void);

#ifdef __cplusplus
}
#endif

#endif
