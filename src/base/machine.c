#define _DEFAULT_SOURCE
/* Reads what Linux reports about memory: /proc/meminfo, the control groups of the process, its
 * resource limits. */
#include "base/machine.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

enum { PATH_SIZE = 1024, LINE_SIZE = 512 };

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Finds the line "NAME:  123 kB" of a file in bytes; -1 if there is none. */
static int64_t read_member(const char *root, const char *file, const char *name) {
    char path[PATH_SIZE], line[LINE_SIZE];
    int64_t bytes = -1;
    size_t length = strlen(name);
    snprintf(path, sizeof path, "%s/proc/%s", root, file);
    FILE *in = fopen(path, "re");
    if (in == NULL)
        return -1;
    while (bytes < 0 && fgets(line, sizeof line, in) != NULL) {
        long long kilobytes;
        if (strncmp(line, name, length) == 0 && line[length] == ':' &&
            sscanf(line + length + 1, "%lld", &kilobytes) == 1)
            bytes = (int64_t)kilobytes * 1024;
    }
    fclose(in);
    return bytes;
}

/* The number in a file of a control group; -1 if there is no such file or it contains "max". */
static int64_t read_number(const char *root, const char *controller, const char *group,
                           const char *file) {
    char path[PATH_SIZE];
    long long number = -1;
    snprintf(path, sizeof path, "%s/sys/fs/cgroup%s%s/%s", root, controller, group, file);
    FILE *in = fopen(path, "re");
    if (in == NULL)
        return -1;
    if (fscanf(in, "%lld", &number) != 1)
        number = -1;
    fclose(in);
    return (int64_t)number;
}

/* What the groups from this one to the root leave. Pages of files that the group has cached count
 * as used although the system can drop them; the inactive ones are added back, as the out-of-memory
 * killer would free them first. */
static int64_t walk_groups(const char *root, const char *controller, char *group,
                           const char *limit_file, const char *usage_file) {
    int64_t left = INT64_MAX;
    for (;;) {
        int64_t limit = read_number(root, controller, group, limit_file);
        int64_t usage = read_number(root, controller, group, usage_file);
        /* Version 1 writes a huge number where there is no limit. */
        if (limit >= 0 && limit < INT64_MAX / 4 && usage >= 0) {
            char path[PATH_SIZE], line[LINE_SIZE];
            long long cached = 0, value;
            snprintf(path, sizeof path, "%s/sys/fs/cgroup%s%s/memory.stat", root, controller,
                     group);
            FILE *in = fopen(path, "re");
            while (in != NULL && fgets(line, sizeof line, in) != NULL)
                if (sscanf(line, "inactive_file %lld", &value) == 1)
                    cached = value;
            if (in != NULL)
                fclose(in);
            usage = usage > cached ? usage - (int64_t)cached : 0;
            left = smaller(left, limit > usage ? limit - usage : 0);
        }
        char *slash = strrchr(group, '/');
        if (slash == NULL)
            return left;
        *slash = '\0';
    }
}

/* Lines of /proc/self/cgroup are "0::/GROUP" in version 2 and "9:memory:/GROUP" in version 1. In a
 * container the group may be mounted as the root, which the walk reaches last. */
static int64_t group_left(const char *root) {
    char path[PATH_SIZE], line[LINE_SIZE];
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
        if (strcmp(names, ":") == 0)
            left = smaller(left, walk_groups(root, "", group, "memory.max", "memory.current"));
        else if (strstr(names, "memory") != NULL)
            left = smaller(left, walk_groups(root, "/memory", group, "memory.limit_in_bytes",
                                             "memory.usage_in_bytes"));
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
    int64_t used = read_member(root, "self/status", name);
    int64_t most = (int64_t)limit.rlim_cur;
    return used < 0 ? most : most > used ? most - used : 0;
}

int64_t hd_machine_hard_limit(const char *root) {
    int64_t left = group_left(root);
    left = smaller(left, resource_left(root, RLIMIT_AS, "VmSize"));
    return smaller(left, resource_left(root, RLIMIT_DATA, "VmData"));
}

int64_t hd_machine_available(const char *root) {
    int64_t available = read_member(root, "meminfo", "MemAvailable");
    return smaller(available >= 0 ? available : INT64_MAX, hd_machine_hard_limit(root));
}

int64_t hd_machine_private(const char *root) {
    int64_t bytes = read_member(root, "self/status", "RssAnon");
    return bytes > 0 ? bytes : 0;
}

/* Linux reports kilobytes. */
int64_t hd_machine_peak(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (int64_t)usage.ru_maxrss * 1024;
}
