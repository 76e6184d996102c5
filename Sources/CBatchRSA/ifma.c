#include "batch.h"

#if defined(__x86_64__) && !defined(BATCH_RSA_WITHOUT_IFMA)

#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512ifma")))
#define ENGINE(name) name##_ifma

static inline __attribute__((always_inline)) TARGET lanes multiply_low(lanes sum, lanes x, lanes y) {
    return (lanes)_mm512_madd52lo_epu64((__m512i)sum, (__m512i)x, (__m512i)y);
}

static inline __attribute__((always_inline)) TARGET lanes multiply_high(lanes sum, lanes x, lanes y) {
    return (lanes)_mm512_madd52hi_epu64((__m512i)sum, (__m512i)x, (__m512i)y);
}

#include "arithmetic.h"

#endif
