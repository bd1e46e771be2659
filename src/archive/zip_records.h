/* The records of a zip file (PKWARE APPNOTE 6.3.9, section 4.3), shared by writer and reader. */
#ifndef HUDDLE_SRC_ARCHIVE_ZIP_RECORDS_H
#define HUDDLE_SRC_ARCHIVE_ZIP_RECORDS_H

#include <stdint.h>

/* Signatures and the sizes of the fixed parts. */
enum {
    HD_ZIP_LOCAL = 0x04034b50,
    HD_ZIP_LOCAL_SIZE = 30,
    HD_ZIP_CENTRAL = 0x02014b50,
    HD_ZIP_CENTRAL_SIZE = 46,
    HD_ZIP_END = 0x06054b50,
    HD_ZIP_END_SIZE = 22,
    HD_ZIP_END64 = 0x06064b50,
    HD_ZIP_END64_SIZE = 56,
    HD_ZIP_LOCATOR64 = 0x07064b50,
    HD_ZIP_LOCATOR64_SIZE = 20,
    HD_ZIP_EXTRA64 = 1, /* the identifier of the ZIP64 extra field */
    HD_ZIP_MAX_NAME = 65535
};

/* A field with all bits set refers to the ZIP64 record. */
#define HD_ZIP_ESCAPE_32 UINT32_C(0xFFFFFFFF)
#define HD_ZIP_ESCAPE_16 UINT32_C(0xFFFF)

/* Numbers are little-endian whatever the machine. */
static inline uint64_t hd_zip_number(const char *at, int bytes) {
    uint64_t value = 0;
    for (int k = bytes - 1; k >= 0; k--)
        value = value << 8 | (unsigned char)at[k];
    return value;
}

/* Stores a number and returns the place after it. */
static inline char *hd_zip_store(char *at, int bytes, uint64_t value) {
    for (int k = 0; k < bytes; k++, value >>= 8)
        *at++ = (char)(value & 255);
    return at;
}

#endif
