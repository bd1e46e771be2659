#include "cli/text.h"

#include <stdbool.h>
#include <string.h>

/* A list such as a|b|c may be broken after a bar, and is then not one word but several: lists
 * of choices are longer than a line. */
static int piece_length(const char *text) {
    int length = (int)strcspn(text, " \n|");
    return text[length] == '|' ? length + 1 : length;
}

/* Greedy filling. A piece that is longer than a line is printed as it is, since breaking a
 * path or an option would make it useless. */
void print_wrapped(const char *text, int indent) {
    int column = indent;
    bool space = false; /* a blank separates the next piece from the one before it */
    while (*text != '\0') {
        if (*text == '\n') {
            printf("\n\n%*s", indent, "");
            column = indent;
            text += strspn(text, "\n");
        }
        int length = piece_length(text);
        if (column > indent && column + space + length > PAGE_WIDTH) {
            printf("\n%*s", indent, "");
            column = indent;
        }
        space = space && column > indent; /* not before the first word of a line */
        printf("%s%.*s", space ? " " : "", length, text);
        column += length + space;
        text += length;
        space = *text == ' ';
        text += strspn(text, " ");
    }
    putchar('\n');
}

/* Code points that take no column (combining marks, joiners) or two (East Asian wide
 * characters, emoji) on a terminal; all others take one. wcwidth() is not used because it
 * depends on the locale. */
static int point_width(uint32_t c) {
    static const struct {
        uint32_t first, last;
        int width;
    } ranges[] = {{0x0300, 0x036F, 0},  {0x1100, 0x115F, 2}, {0x200B, 0x200F, 0},
                  {0x20D0, 0x20FF, 0},  {0x2E80, 0xA4CF, 2}, {0xAC00, 0xD7A3, 2},
                  {0xF900, 0xFAFF, 2},  {0xFE00, 0xFE0F, 0}, {0xFE30, 0xFE6F, 2},
                  {0xFF00, 0xFF60, 2},  {0xFFE0, 0xFFE6, 2}, {0x1F300, 0x1FAFF, 2},
                  {0x20000, 0x3FFFD, 2}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return ranges[i].width;
    return 1;
}

/* Decodes UTF-8; what is not valid is counted, not refused. */
int text_width(const char *text) {
    int width = 0;
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0';) {
        uint32_t c = *p++;
        /* Continuation bytes after this one, from the first byte. */
        int more = c >= 0xF0 ? 3 : c >= 0xE0 ? 2 : c >= 0xC0 ? 1 : 0;
        c = more > 0 ? c & (0x3Fu >> more) : c;
        for (; more > 0 && (*p & 0xC0) == 0x80; more--)
            c = c << 6 | (*p++ & 0x3Fu);
        width += point_width(c);
    }
    return width;
}

const char *plural(int64_t count) {
    return count == 1 ? "" : "s";
}
