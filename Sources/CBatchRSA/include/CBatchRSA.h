#ifndef CBATCHRSA_H
#define CBATCHRSA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Checks up to eight RSA signatures of one key at once. It says "valid", or leaves a signature to libcrypto; it never says
   "invalid". arithmetic.h proves that what it calls valid is valid. */

/* The number of signatures that are checked at once. */
enum { BATCH_RSA_LANES = 8 };

/* How the arithmetic is done. All engines do the same arithmetic, limb by limb. */
typedef enum {
    /* Plain C, many times slower than libcrypto: for tests, and for whoever asks for it. */
    BATCH_RSA_MODEL,
    /* AVX-512 IFMA: eight products of 52 bits in one instruction. */
    BATCH_RSA_IFMA,
} batch_rsa_engine;

/* A key and the signatures that are to be checked with it. It serves one thread at a time. */
typedef struct batch_rsa batch_rsa;

/* Whether this processor has the instructions of an engine, and this build the engine. */
bool batch_rsa_can_use(batch_rsa_engine engine);

/* Takes over a key: its modulus N, and two numbers below N, all of `bytes` bytes with the most significant byte first.

   F is to be the inverse of R^65535 modulo N, where R is 2 to the power of batch_rsa_radix_bits(bytes), `factor` is to be N - F,
   and `padding` is to be -(P * F) modulo N, where P is the encoded message (RFC 8017, 9.2) of a SHA-256 digest that is all zeros.

   Returns NULL unless the modulus is odd and has exactly 1024, 2048, 3072 or 4096 bits, or if there is no memory. The public
   exponent is 65537; the caller sees to that. */
batch_rsa *batch_rsa_create(size_t bytes, const uint8_t *modulus, const uint8_t *factor, const uint8_t *padding);
void batch_rsa_free(batch_rsa *batch);

/* The binary logarithm of R for a modulus of `bytes` bytes; 0 for a size that is not supported. */
int batch_rsa_radix_bits(size_t bytes);

/* Puts a signature of `bytes` bytes and the SHA-256 digest, 32 bytes, that it should be over into a lane. The lane is empty then
   unless the signature is as long as the modulus and, as a number, below it. A lane that does not exist is ignored. */
void batch_rsa_put(batch_rsa *batch, unsigned lane, const uint8_t *signature, size_t bytes, const uint8_t *digest);

/* Checks all signatures that were put into lanes since the last call, and empties the lanes. Returns a bit for each lane, from
   the lowest: 1 if the signature is valid, and 0 if it is for libcrypto to decide, or if the lane was empty. */
unsigned batch_rsa_verify(batch_rsa *batch, batch_rsa_engine engine);

#endif
