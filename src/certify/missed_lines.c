/* RECORDS. Ranges of lines as JSON, and that JSON as text. */
#include "certify/missed_lines.h"

#include <stdio.h>
#include <string.h>

#include "certify/outcome.h"

json_t *tki_lines_json(const tki_lines *lines)
{
    json_t *list = json_array();
    for (int i = 0; i < lines->missed_count; i++) {
        const tki_line_range *r = &lines->missed[i];
        json_t *range = json_pack("[I, I]", (json_int_t)r->first, (json_int_t)r->last);
        if (r->file)
            json_array_append_new(range, tki_text_json(lines->files[r->file]));
        json_array_append_new(list, range);
    }
    return list;
}

void tki_ranges_print(const json_t *ranges, size_t most, char *text, size_t size)
{
    static const char cut[] = ", ...";
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < json_array_size(ranges); i++) {
        char part[320];
        const json_t *range = json_array_get(ranges, i);
        const long long first = json_integer_value(json_array_get(range, 0));
        const long long last = json_integer_value(json_array_get(range, 1));
        const char *file = json_string_value(json_array_get(range, 2));
        snprintf(part, sizeof part, first == last ? "%s%.200s%s%lld" : "%s%.200s%s%lld-%lld", i ? ", " : "",
                 file ? file : "", file ? ":" : "", first, last);
        if (i == most || used + strlen(part) + sizeof cut > size) {
            snprintf(text + used, size - used, "%s", cut);
            return;
        }
        used += (size_t)snprintf(text + used, size - used, "%s", part);
    }
}
