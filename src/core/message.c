/* RECORDS. What went wrong, in words: the last failure of a context, and what a kernel did. */
#include "core/fault.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/context.h"
#include "core/escape.h"
#include "core/float_mode.h"

static void say_failure(const tki_failure *f, char *text, size_t size)
{
    const char *op = f->op, *tensor = f->tensor;
    const long long at = f->at;
    switch (f->kind) {
    case TKI_FAILED_INPUT_MEMORY: snprintf(text, size, "no memory for %zu bytes of inputs", f->bytes); break;
    case TKI_FAILED_BUFFER_MEMORY: snprintf(text, size, "no memory for a buffer of %zu bytes", f->bytes); break;
    case TKI_FAILED_PART_MEMORY: snprintf(text, size, "no memory for a part of an output"); break;
    case TKI_FAILED_DOMAIN:
        snprintf(text, size, "%s: %s[%lld] = 0x%04x = %g lies outside of domain normal (0, or 2^-40 to 2^20)", op,
                 tensor, at, f->bits, f->value);
        break;
    case TKI_FAILED_RANGE:
        snprintf(text, size, "%s: %s[%lld] = 0x%04x = %g lies outside of [%g, %g]", op, tensor, at, f->bits, f->value,
                 f->least, f->most);
        break;
    case TKI_FAILED_INTEGER_RANGE:
        snprintf(text, size, "%s: %s[%lld] = %lld lies outside of [%g, %g]", op, tensor, at, (long long)f->integer,
                 f->least, f->most);
        break;
    case TKI_FAILED_CLAUSE: snprintf(text, size, "no clause of %s is about what failed", op); break;
    case TKI_FAILED_ORACLE: snprintf(text, size, "the oracle of %s: %s", op, tk_status_text(f->status)); break;
    case TKI_FAILED_ENCLOSURE: snprintf(text, size, "the exact values of %s: an enclosure is invalid", op); break;
    case TKI_FAILED_KILLED:
        snprintf(text, size, "%.400s, by the system (out of memory) or by another process; %s", f->words,
                 f->again ? "a second call in a fresh process was not killed"
                          : "not called again: too little memory is free");
        break;
    }
}

/* Here, since what decides is linked without sentences. */
tk_status tk_ctx_create(tk_ctx **ctx)
{
    const tk_status status = ctx ? tki_ctx_create(ctx) : TK_BAD_ARGUMENT;
    if (status == TK_OK)
        (*ctx)->say = say_failure;
    return status;
}

/* A part of it may have come from outside. */
const char *tk_ctx_message(const tk_ctx *ctx)
{
    if (!ctx)
        return "no context";
    char *shown =
        ((tk_ctx *)(uintptr_t)ctx)->shown; /* made when it is asked for; one thread has a context at a time */
    tki_escape_line(ctx->message, strlen(ctx->message), shown, sizeof ctx->shown);
    return shown;
}

const char *tki_fault_name(tki_fault_kind kind)
{
    static const char *const names[TKI_FAULT_KINDS] = {
        [TKI_FAULT_NONE] = "none",       [TKI_FAULT_SIGNAL] = "signal",   [TKI_FAULT_EXIT] = "exit",
        [TKI_FAULT_GONE] = "gone",       [TKI_FAULT_FORGED] = "forged",   [TKI_FAULT_SPOKE_LATE] = "spoke_late",
        [TKI_FAULT_KEPT] = "kept",       [TKI_FAULT_SEALED] = "sealed",   [TKI_FAULT_DEVICE] = "device",
        [TKI_FAULT_HEAP] = "heap",       [TKI_FAULT_OVERRUN] = "overrun", [TKI_FAULT_FLOAT_MODE] = "float_mode",
        [TKI_FAULT_PROCESS] = "process", [TKI_FAULT_INDEX] = "index",     [TKI_FAULT_REFUSED] = "refused",
        [TKI_FAULT_TIMEOUT] = "timeout"};
    return names[kind];
}

static void describe_place(const tki_fault *fault, const char *name, char *text, size_t size)
{
    const bool inside = fault->offset >= 0 && fault->offset < fault->bytes;
    text[0] = 0;
    if (fault->tensor < 0 && fault->address)
        snprintf(text, size, " at address 0x%llx", (unsigned long long)fault->address);
    else if (fault->tensor >= 0 && inside && fault->wrote && fault->input)
        snprintf(text, size, ": it wrote to its input %s, at byte %lld", name, (long long)fault->offset);
    else if (fault->tensor >= 0)
        snprintf(text, size, ": it %s %s %s, at byte %lld of its %lld", fault->wrote && !inside ? "wrote" : "reached",
                 inside ? "into" : "outside", name, (long long)fault->offset, (long long)fault->bytes);
}

static void list(char *text, size_t size, const char *part)
{
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used ? ", " : "", part);
}

static void describe_mode(unsigned deviations, char *text, size_t size)
{
    static const char *const parts[TKI_DEVIATIONS] = {"subnormal results become zero (FTZ)",
                                                      "subnormal inputs count as zero (DAZ)",
                                                      "subnormal numbers become zero (FZ)",
                                                      "subnormal fp16 numbers become zero (FZ16)",
                                                      "rounding is not to nearest",
                                                      "exceptions trap",
                                                      "x87 rounds or traps otherwise",
                                                      "x87 registers are not empty",
                                                      "the flag of direction or of alignment is set",
                                                      "another control bit differs"};
    text[0] = 0;
    for (int i = 0; i < TKI_DEVIATIONS; i++)
        if (deviations >> i & 1)
            list(text, size, parts[i]);
    if (!text[0])
        list(text, size, "it was reset to the initial mode");
}

static void describe_changes(const tki_fault *fault, char *text, size_t size)
{
    const char *name = fault->number > 0 && fault->number < NSIG ? strsignal(fault->number) : "?";
    text[0] = 0;
    if (fault->changed & TKI_CHANGED_HANDLER)
        snprintf(text, size, "the handler of signal %d (%.60s)", fault->number, name);
    if (fault->changed & TKI_CHANGED_MASK)
        list(text, size, "the signals that are blocked");
    if (fault->changed & TKI_CHANGED_STACK)
        list(text, size, "the stack of signal handlers");
    if (fault->changed & TKI_CHANGED_LOCALE)
        list(text, size, "the locale");
}

void tki_fault_text(const tki_fault *fault, const tk_contract *contract, const char *words, char *text, size_t size)
{
    char place[256];
    const int number = fault->number > 0 && fault->number < NSIG ? fault->number : 0;
    const bool named = contract && fault->tensor >= 0 && fault->tensor < contract->param_count;
    const char *name = named ? contract->params[fault->tensor].name : "an array";
    const char *late = fault->late ? " after it had returned" : "";
    words = words ? words : "failed";
    switch (fault->kind) {
    case TKI_FAULT_SIGNAL:
        describe_place(fault, name, place, sizeof place);
        snprintf(text, size, "was ended by signal %d (%s)%s%s", number, strsignal(number),
                 fault->late ? ", after it had returned" : "", place);
        break;
    case TKI_FAULT_EXIT: snprintf(text, size, "ended its process with exit status %d%s", fault->number, late); break;
    case TKI_FAULT_GONE: snprintf(text, size, "%s%s", words, late); break;
    case TKI_FAULT_FORGED: snprintf(text, size, "sent a forged or malformed reply: %s", fault->rule); break;
    case TKI_FAULT_SPOKE_LATE: snprintf(text, size, "sent a frame after it had returned"); break;
    case TKI_FAULT_KEPT: snprintf(text, size, "could still write to %s after it had returned", name); break;
    case TKI_FAULT_SEALED: snprintf(text, size, "changed the seals of %s after it had returned", name); break;
    case TKI_FAULT_HEAP:
        if (fault->number)
            snprintf(text, size, "was ended by signal %d (%s)%s: it %s memory outside its own allocations, or freed",
                     number, strsignal(number), fault->late ? ", after it had returned" : "",
                     fault->wrote ? "wrote to" : "reached");
        else
            snprintf(text, size, "wrote outside its own allocations, or freed one twice");
        break;
    case TKI_FAULT_DEVICE: snprintf(text, size, "failed on its device: %s", words); break;
    case TKI_FAULT_OVERRUN:
        snprintf(text, size, "wrote outside %s, at byte %lld of its %lld", name, (long long)fault->offset,
                 (long long)fault->bytes);
        break;
    case TKI_FAULT_FLOAT_MODE:
        describe_mode(fault->mode, place, sizeof place);
        snprintf(text, size, "changed the floating-point mode of the thread that %s: %s",
                 fault->loading ? "loaded it" : "called it", place);
        break;
    case TKI_FAULT_PROCESS:
        describe_changes(fault, place, sizeof place);
        snprintf(text, size, "changed %s of its process%s", place, fault->loading ? " as it was loaded" : "");
        break;
    case TKI_FAULT_REFUSED: snprintf(text, size, "refused this case: it returned %d", fault->number); break;
    case TKI_FAULT_TIMEOUT:
        snprintf(text, size, "did not %s within %g seconds and was killed", fault->loading ? "load" : "return",
                 fault->seconds);
        break;
    default: snprintf(text, size, "%s", words); break;
    }
}

static tk_status status_of(tki_fault_kind kind)
{
    switch (kind) {
    case TKI_FAULT_REFUSED: return TK_UNSUPPORTED;
    case TKI_FAULT_TIMEOUT: return TK_TIMEOUT;
    case TKI_FAULT_INDEX: return TK_BAD_INDEX;
    default: return TK_KERNEL_FAULT;
    }
}

tk_status tki_fail_fault(tk_ctx *ctx, const tki_fault *fault, const tk_contract *contract, const char *words)
{
    char text[sizeof ctx->message];
    const tki_fault kept = *fault; /* it may be the context's own */
    tki_fault_text(fault, contract, words, text, sizeof text);
    tk_status status = tki_fail(ctx, status_of(kept.kind), "the kernel %s", text);
    ctx->fault = kept;
    return status;
}
