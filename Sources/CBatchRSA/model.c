#include "batch.h"

#define TARGET
#define ENGINE(name) name##_model

static inline __attribute__((always_inline)) lanes multiply_low(lanes sum, lanes x, lanes y) {
    for (int i = 0; i < BATCH_RSA_LANES; i++) {
        sum[i] += (word)((unsigned __int128)(x[i] & LIMB_MASK) * (y[i] & LIMB_MASK)) & LIMB_MASK;
    }
    return sum;
}

static inline __attribute__((always_inline)) lanes multiply_high(lanes sum, lanes x, lanes y) {
    for (int i = 0; i < BATCH_RSA_LANES; i++) {
        sum[i] += (word)((unsigned __int128)(x[i] & LIMB_MASK) * (y[i] & LIMB_MASK) >> LIMB_BITS);
    }
    return sum;
}

#include "arithmetic.h"
