#include "io/labels.h"

#include "base/check.h"
#include "base/text.h"
#include "io/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Texts may point into the arena or into a mapped file; only the arena is owned. */
void hd_io_labels_free(hd_io_labels *labels) {
    FREE(labels->numbers, labels->texts, labels->arena);
    *labels = (hd_io_labels){0};
}

/* Tolerates a list that was only partly filled: entries not reached are NULL. */
void hd_io_classes_free(char **classes, int64_t count) {
    for (int64_t k = 0; classes != NULL && k < count; k++)
        huddle_free(classes[k]);
    huddle_free(classes);
}

huddle_status hd_io_copy_text(const char *text, const char *what, char **copy) {
    *copy = hd_copy_text(text);
    return *copy != NULL ? HUDDLE_OK : hd_fail(HUDDLE_NO_MEMORY, "no memory for %s", what);
}

/* Labels of a vector of any type, as long as every value is a whole number: MATLAB stores them
 * as doubles. */
huddle_status hd_io_labels_from_array(const hd_io_array *array, hd_io_labels *labels) {
    huddle_status status = HUDDLE_OK;
    int64_t n = 1;
    *labels = (hd_io_labels){0};
    for (int32_t k = 0; k < array->rank; k++)
        n *= array->dims[k];
    ALLOC(labels->numbers, n);
    labels->n = n;
    /* The message counts labels from 1, as editors count lines. */
    for (int64_t i = 0; i < n; i++) {
        double value;
        if (!hd_io_array_whole(array, i, &labels->numbers[i], &value))
            FAIL(HUDDLE_INVALID, "label %lld is %g, which is not a whole number",
                 (long long)(array->first + i) + 1, value);
    }
done:
    if (status != HUDDLE_OK)
        hd_io_labels_free(labels);
    return status;
}

huddle_status hd_io_labels_own(hd_io_labels *labels, hd_io_copier *copy) {
    huddle_status status = HUDDLE_OK;
    int64_t bytes = 0;
    for (int64_t i = 0; i < labels->n; i++)
        bytes += labels->texts[i].length + 1;
    ALLOC(labels->arena, bytes);
    char *to = labels->arena;
    for (int64_t i = 0; i < labels->n; i++) {
        hd_io_span text = labels->texts[i];
        char *end = copy(text.begin, text.begin + text.length, to);
        labels->texts[i] = (hd_io_span){to, end - to};
        *end = '\n';
        to = end + 1;
    }
done:
    return status;
}

/* Both lists ascend, and are walked once. */
void hd_io_labels_drop(hd_io_labels *labels, const int64_t *dropped, int64_t count) {
    int64_t kept = 0, gone = 0;
    for (int64_t i = 0; i < labels->n; i++) {
        if (gone < count && dropped[gone] == i)
            gone++;
        else if (labels->texts != NULL)
            labels->texts[kept++] = labels->texts[i];
        else
            labels->numbers[kept++] = labels->numbers[i];
    }
    labels->n = kept;
}

static char *copy_plain(const char *p, const char *end, char *to) {
    memcpy(to, p, (size_t)(end - p));
    return to + (end - p);
}

/* Numbers and texts are not mixed: 1 and "1" would be different classes. */
huddle_status hd_io_labels_append(hd_io_labels *labels, const hd_io_labels *more) {
    huddle_status status = HUDDLE_OK;
    hd_io_labels both = {.n = labels->n + more->n};
    /* The first part decides whether labels are numbers or texts. */
    if (labels->n > 0 && (labels->texts != NULL) != (more->texts != NULL))
        FAIL(HUDDLE_INVALID, "some parts of the labels are numbers and some are strings");
    if (more->texts != NULL) {
        ALLOC(both.texts, both.n);
        for (int64_t i = 0; i < both.n; i++)
            both.texts[i] = i < labels->n ? labels->texts[i] : more->texts[i - labels->n];
        TRY(hd_io_labels_own(&both, copy_plain));
    } else {
        ALLOC(both.numbers, both.n);
        for (int64_t i = 0; i < both.n; i++)
            both.numbers[i] = i < labels->n ? labels->numbers[i] : more->numbers[i - labels->n];
    }
    hd_io_labels_free(labels);
    *labels = both;
    both = (hd_io_labels){0};
done:
    hd_io_labels_free(&both);
    return status;
}

static bool is_whole(hd_io_span text, int64_t *number) {
    return hd_io_number_whole(text.begin, text.begin + text.length, number);
}

/* Stops at the first text that is no whole number, in most files the first one, so that it costs
 * nothing for names. */
bool hd_io_labels_whole(const hd_io_labels *labels) {
    int64_t number;
    for (int64_t i = 0; labels->texts != NULL && i < labels->n; i++)
        if (!is_whole(labels->texts[i], &number))
            return false;
    return true;
}

/* Each text is followed by a character that is no part of a number: a separator of its file, or a
 * line feed that was added. */
huddle_status hd_io_labels_simplify(hd_io_labels *labels) {
    huddle_status status = HUDDLE_OK;
    int64_t *numbers = NULL, n = labels->n;
    if (labels->texts == NULL || !hd_io_labels_whole(labels))
        goto done;
    ALLOC(numbers, n);
    for (int64_t i = 0; i < n; i++)
        (void)is_whole(labels->texts[i], &numbers[i]);
    hd_io_labels_free(labels);
    *labels = (hd_io_labels){.n = n, .numbers = numbers};
done:
    return status;
}

/* ---- mapping -------------------------------------------------------------------------------- */

/* Distinct labels in order of first appearance, found in a hash table with linear probing. Its
 * size is a power of two, and at most half of the slots are in use, so that probing ends
 * quickly. */
typedef struct distinct {
    const hd_io_labels *labels;
    int64_t *slots; /* 1 + number of the distinct label, 0 if free */
    int64_t mask;
    int64_t *first; /* an index with this label */
    int64_t count, capacity;
} distinct;

/* Numbers are hashed and compared as their bytes. */
static hd_io_span key_of(const hd_io_labels *labels, int64_t i) {
    if (labels->texts != NULL)
        return labels->texts[i];
    return (hd_io_span){(const char *)&labels->numbers[i], sizeof *labels->numbers};
}

/* FNV-1a. Its low bits, which select the slot, mix poorly for short keys, so higher ones are
 * added. */
static uint64_t hash_key(hd_io_span key) {
    uint64_t h = 0xcbf29ce484222325;
    for (int64_t i = 0; i < key.length; i++)
        h = (h ^ (unsigned char)key.begin[i]) * 0x100000001b3;
    return h ^ h >> 29;
}

/* The slot of the key, or the free one where it belongs. */
static int64_t *find_slot(const distinct *set, hd_io_span key) {
    /* The table is never full, so the search ends. */
    for (int64_t at = (int64_t)hash_key(key) & set->mask;; at = (at + 1) & set->mask) {
        int64_t *slot = &set->slots[at];
        if (*slot == 0 || set->first == NULL) /* the second only with the first */
            return slot;
        hd_io_span other = key_of(set->labels, set->first[*slot - 1]);
        if (other.length == key.length && memcmp(other.begin, key.begin, (size_t)key.length) == 0)
            return slot;
    }
}

/* Doubles the table and enters the distinct labels again; their numbers stay the same. */
static huddle_status make_room(distinct *set) {
    huddle_status status = HUDDLE_OK;
    /* A power of two, as mask requires. */
    int64_t *larger = NULL, size = set->slots == NULL ? 256 : 2 * (set->mask + 1);
    ALLOC_ZERO(larger, size);
    huddle_free(set->slots);
    set->slots = larger;
    set->mask = size - 1;
    for (int64_t k = 0; k < set->count; k++)
        *find_slot(set, key_of(set->labels, set->first[k])) = k + 1;
done:
    return status;
}

/* numbers[i] = the number of label i among the distinct ones. */
static huddle_status find_distinct(distinct *set, int32_t *numbers) {
    huddle_status status = HUDDLE_OK;
    TRY(make_room(set));
    for (int64_t i = 0; i < set->labels->n; i++) {
        int64_t *slot = find_slot(set, key_of(set->labels, i)), known = *slot;
        if (known == 0) {
            if (!hd_grow(&set->first, &set->capacity, set->count + 1, sizeof *set->first))
                FAIL(HUDDLE_NO_MEMORY, "no memory for %lld classes", (long long)set->count + 1);
            set->first[set->count++] = i;
            known = *slot = set->count;
            if (2 * set->count > set->mask)
                TRY(make_room(set));
        }
        numbers[i] = (int32_t)(known - 1);
    }
done:
    return status;
}

/* A distinct label, for sorting. */
typedef struct ranked {
    hd_io_span text;
    int64_t number;
    int32_t name; /* among the distinct labels */
} ranked;

/* Texts, which have no numbers, by bytes, which for UTF-8 is the order of code points: the classes
 * do not depend on the locale. */
static int by_value(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    int64_t n = x->text.length, m = y->text.length;
    if (x->number != y->number)
        return x->number > y->number ? 1 : -1;
    int order = memcmp(x->text.begin, y->text.begin, (size_t)(n < m ? n : m));
    return order != 0 ? order : (n > m) - (n < m);
}

/* Numbers are written in decimal, as the file had them or not ("007" becomes "7"). */
static char *class_text(const hd_io_labels *labels, const ranked *class) {
    char text[24];
    if (labels->texts != NULL)
        return hd_copy_part(class->text.begin, class->text.length);
    snprintf(text, sizeof text, "%lld", (long long)class->number);
    return hd_copy_text(text);
}

/* Labels are first numbered by appearance, in one pass; only the distinct ones are sorted, and
 * the numbers are then translated into ranks. Sorted classes make the mapping independent of
 * the order of the rows. */
huddle_status hd_io_labels_map(const hd_io_labels *labels, int32_t **mapped, int32_t *n_classes,
                               char ***classes) {
    huddle_status status = HUDDLE_OK;
    distinct set = {.labels = labels};
    ranked *order = NULL;
    int32_t *rank = NULL;
    *mapped = NULL;
    *classes = NULL;
    *n_classes = 0;
    /* Labels are int32 in the whole library. */
    if (labels->n > INT32_MAX)
        FAIL(HUDDLE_UNSUPPORTED, "%lld labels are more than 2147483647", (long long)labels->n);
    ALLOC(*mapped, labels->n);
    TRY(find_distinct(&set, *mapped));
    ALLOC(order, set.count);
    ALLOC(rank, set.count);
    ALLOC_ZERO(*classes, set.count + 1);
    *n_classes = (int32_t)set.count;
    for (int32_t k = 0; k < set.count; k++) {
        int64_t i = set.first[k];
        order[k] = labels->texts != NULL ? (ranked){labels->texts[i], 0, k}
                                         : (ranked){{"", 0}, labels->numbers[i], k};
    }
    if (set.count > 0)
        qsort(order, (size_t)set.count, sizeof *order, by_value);
    /* rank[] translates numbers by appearance into numbers by order. */
    for (int32_t k = 0; k < set.count; k++) {
        rank[order[k].name] = k;
        (*classes)[k] = class_text(labels, &order[k]);
        if ((*classes)[k] == NULL)
            FAIL(HUDDLE_NO_MEMORY, "no memory for a class's name");
    }
    for (int64_t i = 0; i < labels->n; i++)
        (*mapped)[i] = rank[(*mapped)[i]];
done:
    FREE(set.slots, set.first, order, rank);
    if (status != HUDDLE_OK) {
        huddle_free(*mapped);
        hd_io_classes_free(*classes, *n_classes);
        *mapped = NULL;
        *classes = NULL;
        *n_classes = 0;
    }
    return status;
}
