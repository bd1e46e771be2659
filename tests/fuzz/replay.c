/* Runs a fuzz target on the files of a folder, without a fuzzer: a regression test for inputs that
 * once broke a reader. */
#include "fuzz.h"

#include <dirent.h>
#include <sys/stat.h>

static int replay(const char *path) {
    struct stat about;
    FILE *file = fopen(path, "rb");
    if (file == NULL || fstat(fileno(file), &about) != 0) {
        perror(path);
        exit(1);
    }
    if (!S_ISREG(about.st_mode)) {
        fclose(file);
        return 0;
    }
    size_t size = (size_t)about.st_size;
    uint8_t *bytes = malloc(size + 1);
    if (bytes == NULL || fread(bytes, 1, size, file) != size) {
        perror(path);
        exit(1);
    }
    fclose(file);
    printf("%s\n", path);
    fflush(stdout); /* so that the last line names what crashed */
    LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    return 1;
}

int main(int argc, char **argv) {
    int count = 0;
    char path[4096];
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    if (folder == NULL) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
        count += replay(path);
    }
    closedir(folder);
    printf("%d inputs\n", count);
    return count > 0 ? 0 : 1;
}
