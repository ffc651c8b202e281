/* SHOWS. The comparison as SVG, without any library. */
#include <errno.h>
#include <stdio.h>

#include "cli/cli.h"
#include "cli/command_corpus.h"

enum { LEFT = 130, FULL = 440, RIGHT = 110, TOP = 64, BAR = 12, GROUP = 36, BOTTOM = 16 };

static void put_bar(FILE *file, int y, int rejected, int wrong, const char *colour)
{
    double share = wrong > 0 ? (double)rejected / wrong : 0;
    fprintf(file, "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n", LEFT, y, FULL * share, BAR,
            colour);
    fprintf(file, "<text x=\"%.1f\" y=\"%d\" font-size=\"11\">%d of %d</text>\n", LEFT + FULL * share + 5,
            y + BAR - 2, rejected, wrong);
}

static void put_key(FILE *file, int x, const char *colour, const char *text)
{
    fprintf(file, "<rect x=\"%d\" y=\"34\" width=\"%d\" height=\"%d\" fill=\"%s\"/>\n", x, BAR, BAR, colour);
    fprintf(file, "<text x=\"%d\" y=\"44\">%s</text>\n", x + BAR + 5, text);
}

static void put_chart(FILE *file, const corpus_bar *bars, int count)
{
    const char *ours = "#0b5cad";
    const char *usual = "#c0392b";
    int width = LEFT + FULL + RIGHT;
    int height = TOP + count * GROUP + BOTTOM;
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
            "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            width, height, width, height);
    fputs("<text x=\"16\" y=\"22\" font-size=\"14\" font-weight=\"bold\">Mutants rejected</text>\n", file);
    put_key(file, LEFT, ours, "tokitai");
    put_key(file, LEFT + 90, usual, "five normal inputs, atol = rtol = 1e-2");
    for (int i = 0; i < count; i++) {
        const corpus_tally *t = &bars[i].tally;
        int y = TOP + i * GROUP;
        fprintf(file, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", LEFT - 8, y + BAR + 4, bars[i].name);
        put_bar(file, y, t->rejected, t->wrong, ours);
        put_bar(file, y + BAR + 2, t->usual_rejected[0], t->wrong, usual);
    }
    fputs("</svg>\n", file);
}

bool corpus_chart_write(const char *path, const corpus_bar *bars, int count)
{
    FILE *file = cli_create(path);
    if (!file)
        return false;
    put_chart(file, bars, count);
    bool good = !ferror(file);
    int error = errno;
    if (fclose(file))
        return false;
    errno = error;
    return good;
}
