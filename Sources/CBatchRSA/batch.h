#ifndef BATCH_H
#define BATCH_H

#include "CBatchRSA.h"

#include <string.h>

/* Vectors are arguments of functions that are always inlined, so no calling convention matters. */
#pragma clang diagnostic ignored "-Wpsabi"

typedef uint64_t word;
typedef word lanes __attribute__((vector_size(64)));

enum {
    LIMB_BITS = 52,
    /* The limbs of a modulus of 4096 bits; a multiple of four, as all lengths are. */
    MAX_LIMBS = 80,
    /* The limbs of a digest, with zeros up to the next multiple of four. */
    DIGEST_LIMBS = 8,
    /* The zeros after a number. */
    MARGIN = 4,
    /* The limbs that a loop multiplies by at once. */
    ROWS = 4,
};

static const word LIMB_MASK = ((word)1 << LIMB_BITS) - 1;

struct batch_rsa {
    /* The key: N, C and E of arithmetic.h, the same in each lane. */
    lanes modulus[MAX_LIMBS + MARGIN], factor[MAX_LIMBS + MARGIN], padding[MAX_LIMBS + MARGIN];
    /* What the lanes hold, or held before: only a lane that is filled counts. */
    lanes signatures[MAX_LIMBS + MARGIN], digests[DIGEST_LIMBS];
    /* -1 / N modulo 2^52. */
    word inverse;
    /* The number of limbs of the modulus, and its bytes with the most significant byte first. */
    int length;
    size_t bytes;
    uint8_t modulus_bytes[512];
    /* The lanes that hold a signature below N. */
    unsigned filled;
};

unsigned check_all_model(const batch_rsa *batch);
unsigned check_all_ifma(const batch_rsa *batch);

#endif
