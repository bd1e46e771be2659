#define _DEFAULT_SOURCE
/* Reads what Linux reports about memory and CPUs: /proc/meminfo, the control groups of the process,
 * its resource limits. */
#include "base/machine.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

enum { PATH_SIZE = 1024, LINE_SIZE = 512 };

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* The number after `name` at the beginning of a line of a file; -1 if there is none, as where a
 * control group has "max". */
static int64_t read_number(const char *folder, const char *file, const char *name) {
    char path[PATH_SIZE], line[LINE_SIZE];
    long long number = -1;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *in = fopen(path, "re");
    if (in == NULL)
        return -1;
    while (number < 0 && fgets(line, sizeof line, in) != NULL)
        if (strncmp(line, name, strlen(name)) != 0 ||
            sscanf(line + strlen(name), "%lld", &number) != 1)
            number = -1;
    fclose(in);
    return (int64_t)number;
}

/* What a file of proc/ has in kilobytes, in bytes. */
static int64_t read_member(const char *root, const char *file, const char *name) {
    int64_t kilobytes = read_number(root, file, name);
    return kilobytes < 0 ? -1 : 1024 * kilobytes;
}

/* What a control group of either version leaves of something; INT64_MAX if it does not limit it. */
typedef int64_t (*group_limit)(const char *folder, bool version_2);

/* Pages of files that the group has cached count as used although the system can drop them; the
 * inactive ones are added back, as the out-of-memory killer would free them first. */
static int64_t memory_left(const char *folder, bool version_2) {
    int64_t limit = read_number(folder, version_2 ? "memory.max" : "memory.limit_in_bytes", "");
    int64_t usage = read_number(folder, version_2 ? "memory.current" : "memory.usage_in_bytes", "");
    /* Version 1 writes a huge number where there is no limit. */
    if (limit < 0 || limit >= INT64_MAX / 4 || usage < 0)
        return INT64_MAX;
    int64_t cached = read_number(folder, "memory.stat", "inactive_file ");
    if (cached > 0)
        usage = usage > cached ? usage - cached : 0;
    return limit > usage ? limit - usage : 0;
}

/* cpu.max is "200000 100000", microseconds of CPU time per period. Rounded up: a quota of 1.5 CPUs
 * keeps two threads busy most of the time. */
static int64_t cpus_left(const char *folder, bool version_2) {
    char path[PATH_SIZE];
    double quota, period;
    snprintf(path, sizeof path, "%s/cpu.max", folder);
    FILE *in = version_2 ? fopen(path, "re") : NULL;
    if (in == NULL)
        return INT64_MAX;
    int fields = fscanf(in, "%lf %lf", &quota, &period);
    fclose(in);
    if (fields != 2 || period <= 0 || quota <= 0)
        return INT64_MAX;
    double cpus = (quota + period - 1) / period;
    return cpus < 1 ? 1 : (int64_t)cpus;
}

/* The smallest that the groups between that of this process and the root leave. Lines of
 * /proc/self/cgroup are "0::/GROUP" in version 2 and "9:memory:/GROUP" in version 1. In a container
 * the group may be mounted as the root, which the walk reaches last. */
static int64_t group_left(const char *root, group_limit left_of) {
    char path[PATH_SIZE], line[LINE_SIZE], folder[PATH_SIZE];
    int64_t left = INT64_MAX;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *in = fopen(path, "re");
    if (in == NULL)
        return left;
    while (fgets(line, sizeof line, in) != NULL) {
        char *names = strchr(line, ':'), *group = names != NULL ? strchr(names + 1, ':') : NULL;
        if (group == NULL)
            continue;
        *group++ = '\0';
        group[strcspn(group, "\n")] = '\0';
        bool version_2 = strcmp(names, ":") == 0;
        if (!version_2 && strstr(names, "memory") == NULL)
            continue;
        for (char *end = group + strlen(group); end != NULL; end = strrchr(group, '/')) {
            *end = '\0';
            snprintf(folder, sizeof folder, "%s/sys/fs/cgroup%s%s", root,
                     version_2 ? "" : "/memory", group);
            left = smaller(left, left_of(folder, version_2));
        }
    }
    fclose(in);
    return left;
}

/* What a resource limit leaves of the memory that /proc/self/status names. */
static int64_t resource_left(const char *root, int resource, const char *name) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        limit.rlim_cur > (rlim_t)(INT64_MAX / 4))
        return INT64_MAX;
    int64_t used = read_member(root, "proc/self/status", name);
    int64_t most = (int64_t)limit.rlim_cur;
    return used < 0 ? most : most > used ? most - used : 0;
}

int64_t hd_machine_hard_limit(const char *root) {
    int64_t left = group_left(root, memory_left);
    left = smaller(left, resource_left(root, RLIMIT_AS, "VmSize:"));
    return smaller(left, resource_left(root, RLIMIT_DATA, "VmData:"));
}

int64_t hd_machine_available(const char *root) {
    int64_t available = read_member(root, "proc/meminfo", "MemAvailable:");
    return smaller(available >= 0 ? available : INT64_MAX, hd_machine_hard_limit(root));
}

int64_t hd_machine_private(const char *root) {
    int64_t bytes = read_member(root, "proc/self/status", "RssAnon:");
    return bytes > 0 ? bytes : 0;
}

int64_t hd_machine_cpus(const char *root) {
    return group_left(root, cpus_left);
}

/* Linux reports kilobytes. */
int64_t hd_machine_peak(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (int64_t)usage.ru_maxrss * 1024;
}
