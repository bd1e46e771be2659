/* Flags that several commands share. */
#include "commands.h"

#include <stdlib.h>
#include <string.h>

static const char *const *missing_rules(void) {
    static const char *const rules[] = {"error", "drop", "mean", "median", NULL};
    return rules;
}

const cli_flag input_flags[] = {
    {.name = "x",
     .kind = FLAG_TEXT,
     .value = "NAME",
     .repeats = true,
     .help = "the points: a name in a container, or columns of a table by name or position; "
             "repeat to stack parts"},
    {.name = "y",
     .kind = FLAG_TEXT,
     .value = "NAME",
     .repeats = true,
     .help = "the labels: likewise, or a file of labels, or none; repeat to stack parts"},
    {.name = "transpose", .kind = FLAG_SWITCH, .help = "samples stand in columns"},
    {.name = "missing",
     .kind = FLAG_CHOICE,
     .value = "RULE",
     .choices = missing_rules,
     .default_text = "error",
     .help = "missing values of a table (empty, NA, ?): refuse them, drop their rows, or fill in "
             "the column's mean or median"},
    {.name = "encode",
     .kind = FLAG_SWITCH,
     .help = "make features of a table's text columns, one for each text (one-hot)"},
    {.name = "classes",
     .kind = FLAG_TEXT,
     .value = "LIST",
     .help = "keep these classes, by their value in the file, such as 11-36,40"},
    {.name = "per-class",
     .kind = FLAG_COUNT,
     .value = "N",
     .min = 1,
     .help = "keep the first N of each class"},
    {.name = "n",
     .kind = FLAG_COUNT,
     .value = "N",
     .min = 1,
     .default_text = "1000",
     .help = "points to generate"},
    {.name = "noise",
     .kind = FLAG_NUMBER,
     .value = "NUMBER",
     .help = "noise of generated points; default: the kind's own"},
    {0}};

const cli_flag seeded_flags[] = {{.name = "seed",
                                  .kind = FLAG_COUNT,
                                  .value = "N",
                                  .default_text = "0",
                                  .help = "random stream of generated points"},
                                 {0}};

const cli_flag common_flags[] = {
    {.name = "help", .letter = 'h', .kind = FLAG_SWITCH, .help = "print this and leave"}, {0}};

const cli_flag quiet_flags[] = {
    {.name = "quiet", .letter = 'q', .kind = FLAG_SWITCH, .help = "no progress or talk on stderr"},
    {.name = "help", .letter = 'h', .kind = FLAG_SWITCH, .help = "print this and leave"},
    {0}};

const char data_text[] =
    "DATA is a file (CSV or TSV, NPY, NPZ, MAT, HDF5, LIBSVM, MatrixMarket, IDX; all but HDF5 "
    "also packed by gzip), a folder of PGM or PNG images with one sub-folder a class, the built-in "
    "set digits, or "
    "a "
    "generator: moons, rings, spirals, blobs, swissroll. Names inside a container are found by "
    "habit (X, fea, data ... and y, gnd, labels ...) unless --x and --y give them.";
