/* Formats that are recognised to say what to do with them. */
#include "base/check.h"
#include "io/formats.h"

#include <string.h>

/* A file that begins with these bytes, and what converts it. */
typedef struct foreign {
    const char *magic;
    int64_t length;
    const char *name, *advice;
    int64_t place; /* of the bytes in the file */
} foreign;

#define CSV            "('IN').to_csv('OUT.csv', index=False)"
#define PANDAS(reader) "convert it in Python: import pandas; pandas." reader CSV

static const foreign known[] = {
    {"PAR1", 4, "Parquet", PANDAS("read_parquet")},
    {"ARROW1", 6, "Arrow (Feather)", PANDAS("read_feather")},
    {"FEA1", 4, "Feather", PANDAS("read_feather")},
    {"ORC", 3, "ORC", PANDAS("read_orc")},
    {"Obj\1", 4, "Avro", "convert it to CSV"},
    {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 8, "an old Excel workbook",
     "save the sheet as CSV, or " PANDAS("read_excel")},
    {"$FL2", 4, "SPSS", PANDAS("read_spss")},
    {"$FL3", 4, "SPSS", PANDAS("read_spss")},
    {"<stata_dta>", 11, "Stata", PANDAS("read_stata")},
    {"HEADER RECORD*******", 20, "SAS", PANDAS("read_sas")},
    {"RDX2\n", 5, "an R workspace", "in R: load('IN'); write.csv(DATA, 'OUT.csv')"},
    {"RDX3\n", 5, "an R workspace", "in R: load('IN'); write.csv(DATA, 'OUT.csv')"},
    {"X\n\0\0\0", 5, "an R object (RDS)",
     "in R: write.csv(readRDS('IN'), 'OUT.csv', row.names = FALSE)"},
    {"SQLite format 3", 16, "an SQLite database",
     "export a table: sqlite3 -header -csv IN 'SELECT * FROM TABLE' > OUT.csv"},
    {"%PDF", 4, "PDF", "extract the table as CSV"},
    {"7z\xbc\xaf\x27\x1c", 6, "a 7-Zip archive", "unpack it and give the file inside"},
    {"Rar!", 4, "a RAR archive", "unpack it and give the file inside"},
    {"ustar", 5, "a tar archive", "unpack it (tar xf IN) and give a file or folder inside", 257},
    {"GIF8", 4, "a GIF image", "convert images to PNG"},
    {"WEBP", 4, "a WebP image", "convert images to PNG", 8},
};

/* Names of members that tell what a ZIP archive is; the names stand in clear in it. */
static const foreign zipped[] = {
    {"xl/", 3, "an Excel workbook (.xlsx)", "save the sheet as CSV, or " PANDAS("read_excel")},
    {"mimetypeapplication/vnd.oasis", 29, "an OpenDocument sheet",
     "save it as CSV, or " PANDAS("read_excel")},
    {"archive/data.pkl", 16, "a PyTorch file",
     "convert it in Python: numpy.save('OUT.npy', torch.load('IN').numpy())"},
};

static bool contains(const hd_file *file, const foreign *f) {
    enum { EXAMINED = 1 << 16 }; /* both ends: members are named there */
    int64_t size = file->size < EXAMINED ? file->size : EXAMINED;
    for (int end = 0; end < 2; end++) {
        const char *p = end ? file->text + file->size - size : file->text, *stop = p + size;
        while ((p = memchr(p, f->magic[0], (size_t)(stop - p))) != NULL && stop - p >= f->length) {
            if (memcmp(p, f->magic, (size_t)f->length) == 0)
                return true;
            p++;
        }
    }
    return false;
}

static huddle_status refuse(const foreign *f) {
    return hd_fail(HUDDLE_UNSUPPORTED, "the file is %s, which Huddle does not read; %s", f->name,
                   f->advice);
}

/* An archive of some file. NPZ has been recognised before. */
static huddle_status refuse_zip(const hd_file *file) {
    for (size_t k = 0; k < sizeof zipped / sizeof *zipped; k++)
        if (contains(file, &zipped[k]))
            return refuse(&zipped[k]);
    return refuse(
        &(foreign){.name = "a ZIP archive", .advice = "unpack it and give the file inside"});
}

/* Pickle of protocol 2 and later: 0x80 and the version; it ends with a full stop. */
static bool is_pickle(const hd_file *file) {
    return file->size > 3 && (unsigned char)file->text[0] == 0x80 && file->text[1] >= 2 &&
           file->text[1] <= 5 && file->text[file->size - 1] == '.';
}

/* {"..." or [{ or [[, after white space: no row of a table begins like this. */
static bool is_json(const hd_file *file) {
    const char *p = file->text, *end = p + file->size;
    char signs[2] = "";
    for (int k = 0; k < 2; k++) {
        while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
            p++;
        signs[k] = '\0';
        if (p < end)
            signs[k] = *p++;
    }
    return (signs[0] == '{' && (signs[1] == '"' || signs[1] == '}')) ||
           (signs[0] == '[' && (signs[1] == '{' || signs[1] == '['));
}

huddle_status hd_io_refuse_foreign(const hd_file *file, bool binary) {
    static const foreign pickle = {
        .name = "a Python pickle",
        .advice = "convert it in Python: numpy.save('OUT.npy', pickle.load(open('IN', 'rb')))"};
    static const foreign json = {
        .name = "JSON",
        .advice = PANDAS("read_json") ", with lines=True if each line is an object"};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (binary && file->size >= known[k].place + known[k].length &&
            memcmp(file->text + known[k].place, known[k].magic, (size_t)known[k].length) == 0)
            return refuse(&known[k]);
    if (binary && file->size >= 4 && memcmp(file->text, "PK\3\4", 4) == 0)
        return refuse_zip(file);
    if (is_pickle(file))
        return refuse(&pickle);
    if (is_json(file))
        return refuse(&json);
    return HUDDLE_OK;
}
