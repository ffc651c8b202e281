/* DECIDES. The ways in which an output element can be right. Contracts use these for their special values. */
#pragma once

/* An element is accepted if any of its flags accepts it. */
enum {
    TKI_ADMIT_INTERVAL = 1, /* RN(S - B) <= out <= RN(S + B), not NaN */
    TKI_ADMIT_NAN = 2,
    TKI_ADMIT_PLUS_INF = 4,
    TKI_ADMIT_MINUS_INF = 8,
    TKI_ADMIT_ZERO = 16,     /* of either sign */
    TKI_ADMIT_BITS = 32,     /* exactly the pattern in `bits`, all NaNs being equal */
    TKI_ADMIT_RAW_BITS = 64, /* exactly the pattern in `bits`, NaN payload included */
    TKI_UNDEFINED = 128,     /* the bound does not exist here (a precondition of it fails): UNKNOWN, not refuted */
    TKI_NOT_NEGATIVE = 256   /* accepts nothing by itself: whatever the others accept must not be below zero */
};
