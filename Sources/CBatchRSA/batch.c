#include "batch.h"

#include <stdlib.h>

bool batch_rsa_can_use(batch_rsa_engine engine) {
    if (engine == BATCH_RSA_MODEL) return true;
#if defined(__x86_64__) && !defined(BATCH_RSA_WITHOUT_IFMA)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512ifma");
#else
    return false;
#endif
}

/* The number of limbs, so that R is at least 2^16 times the modulus; 0 for a size that is not supported. */
static int limbs(size_t bytes) {
    switch (bytes) {
    case 128: return 20;
    case 256: return 40;
    case 384: return 60;
    case 512: return 80;
    default: return 0;
    }
}

int batch_rsa_radix_bits(size_t bytes) {
    return limbs(bytes) * LIMB_BITS;
}

static word from_big_endian(word bits) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return __builtin_bswap64(bits);
#else
    return bits;
#endif
}

/* Reads a number with the most significant byte first into one lane. */
static void read(lanes *number, int length, unsigned lane, const uint8_t *bytes, size_t count) {
    /* The number with zeros before it, as long as its limbs and the word that the last one is read with. */
    uint8_t padded[MAX_LIMBS * LIMB_BITS / 8 + sizeof(word)];
    const size_t size = length * LIMB_BITS / 8 + sizeof(word);
    memset(padded, 0, size - count);
    memcpy(padded + size - count, bytes, count);
    for (int j = 0; j < length; j++) {
        /* A limb ends at a byte, or in the middle of one. */
        word bits;
        memcpy(&bits, padded + size - sizeof bits - j * LIMB_BITS / 8, sizeof bits);
        number[j][lane] = from_big_endian(bits) >> j * LIMB_BITS % 8 & LIMB_MASK;
    }
}

batch_rsa *batch_rsa_create(size_t bytes, const uint8_t *modulus, const uint8_t *factor, const uint8_t *padding) {
    const int length = limbs(bytes);
    if (length == 0 || modulus[0] < 0x80 || modulus[bytes - 1] % 2 == 0) return NULL;
    batch_rsa *batch = aligned_alloc(_Alignof(batch_rsa), sizeof *batch);
    if (!batch) return NULL;
    memset(batch, 0, sizeof *batch);
    for (unsigned lane = 0; lane < BATCH_RSA_LANES; lane++) {
        read(batch->modulus, length, lane, modulus, bytes);
        read(batch->factor, length, lane, factor, bytes);
        read(batch->padding, length, lane, padding, bytes);
    }
    /* Newton's iteration: each step doubles the number of bits in which inverse * N is 1. An odd number is its own inverse in the
       first three. */
    const word lowest = batch->modulus[0][0];
    word inverse = lowest;
    for (int step = 0; step < 5; step++) inverse *= 2 - lowest * inverse;
    batch->inverse = (0 - inverse) & LIMB_MASK;
    batch->length = length;
    batch->bytes = bytes;
    memcpy(batch->modulus_bytes, modulus, bytes);
    return batch;
}

void batch_rsa_free(batch_rsa *batch) {
    free(batch);
}

void batch_rsa_put(batch_rsa *batch, unsigned lane, const uint8_t *signature, size_t bytes, const uint8_t *digest) {
    if (lane >= BATCH_RSA_LANES) return;
    batch->filled &= ~(1u << lane);
    if (bytes != batch->bytes || memcmp(signature, batch->modulus_bytes, bytes) >= 0) return;
    read(batch->signatures, batch->length, lane, signature, batch->bytes);
    read(batch->digests, DIGEST_LIMBS, lane, digest, 32);
    batch->filled |= 1u << lane;
}

unsigned batch_rsa_verify(batch_rsa *batch, batch_rsa_engine engine) {
    const unsigned filled = batch->filled;
    batch->filled = 0;
    if (!batch_rsa_can_use(engine)) return 0;
#if defined(__x86_64__) && !defined(BATCH_RSA_WITHOUT_IFMA)
    if (engine == BATCH_RSA_IFMA) return check_all_ifma(batch) & filled;
#endif
    return check_all_model(batch) & filled;
}
