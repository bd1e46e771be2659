/* embed_digits IN.csv OUT.inc: turns the digits into the inside of a C array. Run by the build. */
#include <stdio.h>
#include <stdlib.h>

enum { NUMBERS = 1797 * 65, LARGEST = 16 };

static int copy(FILE *in, FILE *out) {
    int count = 0, value;
    while (fscanf(in, "%d%*[,\r\n]", &value) == 1) {
        if (value < 0 || value > LARGEST)
            return 0;
        fprintf(out, "%d,%s", value, ++count % 65 == 0 ? "\n" : "");
    }
    return count == NUMBERS && feof(in);
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: embed_digits IN.csv OUT.inc\n");
        return 2;
    }
    FILE *in = fopen(argv[1], "r"), *out = fopen(argv[2], "w");
    int good = in != NULL && out != NULL && copy(in, out);
    if (in != NULL)
        fclose(in);
    good = out != NULL && fclose(out) == 0 && good;
    if (!good) {
        fprintf(stderr, "%s: not the digits, or %s cannot be written\n", argv[1], argv[2]);
        remove(argv[2]);
        return 1;
    }
    return 0;
}
