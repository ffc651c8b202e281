/* CHOOSES. What a kernel could change in its process for all other code there, beside memory: how signals are met, the locale, the environment. */
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/fault.h"
#include "worker/worker_program.h"

typedef struct picture {
    struct sigaction handlers[NSIG];
    sigset_t mask;
    stack_t stack;
    char locale[256];
    locale_t of_thread;
    uint64_t environment; /* a hash */
} picture;

static picture before;

static void hash_text(uint64_t *hash, const char *text)
{
    do
        *hash = (*hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    while (*text++);
}

static void take(picture *p)
{
    memset(p, 0, sizeof *p);
    for (int i = 1; i < NSIG; i++)
        sigaction(i, NULL, &p->handlers[i]); /* of those that libc keeps for itself nothing is said */
    sigprocmask(SIG_BLOCK, NULL, &p->mask);
    sigaltstack(NULL, &p->stack);
    const char *locale = setlocale(LC_ALL, NULL);
    snprintf(p->locale, sizeof p->locale, "%s", locale ? locale : "");
    p->of_thread = uselocale((locale_t)0);
    p->environment = UINT64_C(0xcbf29ce484222325);
    for (char **variable = environ; variable && *variable; variable++)
        hash_text(&p->environment, *variable);
}

static bool same_signals(const sigset_t *a, const sigset_t *b)
{
    bool same = true;
    for (int i = 1; i < NSIG; i++) /* behind them is what the system did not fill */
        same &= sigismember(a, i) == sigismember(b, i);
    return same;
}

enum { OF_LIBC = 0x04000000 }; /* SA_RESTORER: it says so of every handler that was ever set */

static int first_other_handler(const picture *now)
{
    for (int i = 1; i < NSIG; i++) {
        const struct sigaction *a = &before.handlers[i], *b = &now->handlers[i];
        if (a->sa_sigaction != b->sa_sigaction || (a->sa_flags ^ b->sa_flags) & ~OF_LIBC ||
            !same_signals(&a->sa_mask, &b->sa_mask))
            return i;
    }
    return 0;
}

void tki_worker_state_note(void)
{
    take(&before);
}

void tki_worker_state_compare(tki_process_state *state)
{
    static picture now;
    take(&now);
    state->signal = first_other_handler(&now);
    state->changed = (state->signal ? TKI_CHANGED_HANDLER : 0u) |
                     (same_signals(&now.mask, &before.mask) ? 0u : TKI_CHANGED_MASK) |
                     (now.stack.ss_sp != before.stack.ss_sp || now.stack.ss_size != before.stack.ss_size ||
                              now.stack.ss_flags != before.stack.ss_flags
                          ? TKI_CHANGED_STACK
                          : 0u) |
                     (strcmp(now.locale, before.locale) || now.of_thread != before.of_thread ? TKI_CHANGED_LOCALE
                                                                                             : 0u) |
                     (now.environment != before.environment ? TKI_CHANGED_ENVIRONMENT : 0u);
}
