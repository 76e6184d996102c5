/* Montgomery arithmetic on eight numbers at once, and the check of eight signatures.

   An engine includes this file after it has defined ENGINE(name), which gives its functions their names, TARGET, the attribute
   of functions that use its instructions, and
       lanes multiply_low(lanes sum, lanes x, lanes y)     adds the low 52 bits of x * y to each lane of sum
       lanes multiply_high(lanes sum, lanes x, lanes y)    adds x * y, divided by 2^52 and rounded down, to each lane of sum
   Both take the low 52 bits of x and y alone. No operation crosses lanes, so what an empty lane holds affects no other.

   Numbers. A lane is one of eight 64-bit words of a vector, and belongs to one signature. A number is an array of vectors: in
   each lane, element j holds the number's bits from 52 j up, its limb j. A number of L limbs is below R = 2^(52 L). Four vectors
   of zeros follow the limbs of x and of a key's or signature's number, so that loops need no special case at their end.

   Columns. A product is first an array of sums: column j is the sum of all partial products that count 2^(52 j) times. No column
   is carried into the next while products are added. The low or the high half of a partial product is below 2^52, and a column gets at most 2 L of them
   from a product, as many from a reduction, 16 from the digest, one limb and one carry: fewer than 2^10, as L is 80 at most. So
   a column stays below 2^62, and never overflows.

   The proof. Let N be the modulus, odd; s a signature; h its digest; P the encoded message (RFC 8017, 9.2) with zeros in place of
   the digest, so that P + h is the only encoded message that is valid for h. By RFC 8017, 8.2.2, s is valid exactly if
   s^65537 mod N = P + h, which is below N, since the encoded message begins with 15 zero bits. The proof relies on others for
   this: batch_rsa_put() lets only s < N into a lane; whoever makes the key (BatchVerifier) refuses other exponents, and computes
   F = 1 / R^65535 modulo N, C = N - F and E = -P F modulo N.

   1. reduce() turns a sum of columns T into the number (T + m N) / R. Each limb of m is below 2^52, so m is below R. The result is
      congruent to T / R modulo N. Its limbs are below 2^52, so a number below R has only one form, and is compared limb by limb.
   2. If x < 2 N, then x^2 becomes less than (4 N^2 + R N) / R = N (4 N / R + 1), which is below 2 N: R is at least 2^16 N. So x,
      beginning as s and squared and reduced 16 times, stays below 2 N and loses no carry beyond its limbs, and becomes
      s^65536 / R^65535 modulo N.
   3. In the end T = x s + h C + E is reduced. T is congruent to F (s^65537 - h - P), and F has an inverse, so N divides T exactly
      if s is valid.
   4. What is called valid is valid: only a lane whose result is N is. The result is congruent to T / R, and N is congruent to 0, so
      N divides T.
   5. What is valid is called so: the result is below (2 N^2 + 2^256 N + N) / R + N, which is below 2 N, and above 0, as E is, since
      0 < P < N and F has an inverse. The only number between 0 and 2 N that N divides is N. */

#define INLINE static inline __attribute__((always_inline)) TARGET

INLINE lanes ENGINE(splat)(word value) {
    return (lanes){value, value, value, value, value, value, value, value};
}

/* Adds x * y to sums, where x is the four limbs at x and y a number: only to the columns from `first` up to `end`. Column j gets
   the low halves of x[i] * y[j - i], and the high halves of x[i] * y[j - i - 1]. `before` is the four limbs of y before `first`, or
   zeros to leave their products out. */
INLINE void ENGINE(add_rows)(lanes *sums, const lanes *x, const lanes *y, const lanes *before, int first, int end) {
    const lanes x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
    lanes y1 = before[3], y2 = before[2], y3 = before[1], y4 = before[0];
    for (int j = first; j < end; j++) {
        const lanes y0 = y[j];
        lanes sum = sums[j];
        sum = multiply_low(sum, x0, y0);
        sum = multiply_high(sum, x0, y1);
        sum = multiply_low(sum, x1, y1);
        sum = multiply_high(sum, x1, y2);
        sum = multiply_low(sum, x2, y2);
        sum = multiply_high(sum, x2, y3);
        sum = multiply_low(sum, x3, y3);
        sum = multiply_high(sum, x3, y4);
        sums[j] = sum;
        y4 = y3, y3 = y2, y2 = y1, y1 = y0;
    }
}

/* Adds x * y to sums, where x has `length` limbs, a multiple of four. */
INLINE void ENGINE(add_product)(lanes *sums, const lanes *x, int length, const lanes *y, int y_length) {
    const lanes zeros[ROWS] = {{0}};
    for (int i = 0; i < length; i += ROWS) {
        ENGINE(add_rows)(sums + i, x + i, y, zeros, 0, y_length + ROWS);
    }
}

/* Sets sums to x * x: first the products of two different limbs once, then all of that twice and the squares of limbs. */
INLINE void ENGINE(square)(lanes *sums, const lanes *x, int length) {
    const lanes zeros[ROWS] = {{0}};
    for (int j = 0; j < 2 * length; j++) sums[j] = zeros[0];
    for (int i = 0; i < length; i += ROWS) {
        for (int p = i; p < i + ROWS; p++) {
            for (int q = p + 1; q < i + ROWS; q++) {
                sums[p + q] = multiply_low(sums[p + q], x[p], x[q]);
                sums[p + q + 1] = multiply_high(sums[p + q + 1], x[p], x[q]);
            }
        }
        /* Four limbs times all later ones. */
        if (i + ROWS < length) ENGINE(add_rows)(sums + i, x + i, x, zeros, i + ROWS, length + ROWS);
    }
    for (int j = 0; j < length; j++) {
        sums[2 * j] = multiply_low(sums[2 * j] + sums[2 * j], x[j], x[j]);
        sums[2 * j + 1] = multiply_high(sums[2 * j + 1] + sums[2 * j + 1], x[j], x[j]);
    }
}

/* Finds the multiple m of the modulus that makes the four lowest columns zero once it is added, and returns what they then carry
   into the fifth. The multiple adds m * N to the later columns too; add_rows() does that. */
INLINE lanes ENGINE(clear_columns)(lanes *m, const lanes *sums, lanes carry, const lanes *modulus, lanes inverse) {
    const lanes zero = {0};
    for (int r = 0; r < ROWS; r++) {
        lanes low = sums[r], high = zero;
        for (int q = 0; q < r; q++) {
            low = multiply_low(low, m[q], modulus[r - q]);
            high = multiply_high(high, m[q], modulus[r - q - 1]);
        }
        low += high;
        low += carry;
        m[r] = multiply_low(zero, low, inverse);
        carry = multiply_low(low, m[r], modulus[0]) >> LIMB_BITS;
    }
    return carry;
}

/* Sets x to (T + m N) / R, where T is the number that the sums are: adds a multiple of N that makes the `length` lowest columns
   zero, and carries in the others. `inverse` is -1 / N modulo 2^52.

   The columns that the next step starts from are finished before the others, so that the processor can do both at once. */
INLINE void ENGINE(reduce)(lanes *x, lanes *sums, const lanes *modulus, lanes inverse, int length) {
    lanes m[ROWS], next[ROWS] = {{0}};
    lanes carry = ENGINE(clear_columns)(m, sums, (lanes){0}, modulus, inverse);
    for (int i = 0; i < length; i += ROWS) {
        ENGINE(add_rows)(sums + i, m, modulus, modulus, ROWS, 2 * ROWS);
        if (i + ROWS < length) {
            carry = ENGINE(clear_columns)(next, sums + i + ROWS, carry, modulus, inverse);
        }
        ENGINE(add_rows)(sums + i, m, modulus, modulus + ROWS, 2 * ROWS, length + ROWS);
        for (int r = 0; r < ROWS; r++) m[r] = next[r];
    }
    const lanes mask = ENGINE(splat)(LIMB_MASK);
    for (int j = 0; j < length; j++) {
        const lanes sum = sums[length + j] + carry;
        x[j] = sum & mask;
        carry = sum >> LIMB_BITS;
    }
}

/* Which lanes have a valid signature: a bit for each, from the lowest. */
INLINE unsigned ENGINE(check)(const batch_rsa *batch, int length) {
    lanes sums[2 * MAX_LIMBS], x[MAX_LIMBS + MARGIN];
    const lanes inverse = ENGINE(splat)(batch->inverse);
    memcpy(x, batch->signatures, sizeof x);
    for (int squaring = 0; squaring < 16; squaring++) {
        ENGINE(square)(sums, x, length);
        ENGINE(reduce)(x, sums, batch->modulus, inverse, length);
    }
    memcpy(sums, batch->padding, sizeof(lanes) * length);
    memset(sums + length, 0, sizeof(lanes) * length);
    ENGINE(add_product)(sums, batch->digests, DIGEST_LIMBS, batch->factor, length);
    ENGINE(add_product)(sums, x, length, batch->signatures, length);
    ENGINE(reduce)(x, sums, batch->modulus, inverse, length);
    lanes difference = {0};
    for (int j = 0; j < length; j++) difference |= x[j] ^ batch->modulus[j];
    unsigned valid = 0;
    for (unsigned lane = 0; lane < BATCH_RSA_LANES; lane++) valid |= (difference[lane] == 0) << lane;
    return valid;
}

/* As many limbs as the modulus needs, known when this is compiled. */
TARGET unsigned ENGINE(check_all)(const batch_rsa *batch) {
    switch (batch->length) {
    case 20: return ENGINE(check)(batch, 20);
    case 40: return ENGINE(check)(batch, 40);
    case 60: return ENGINE(check)(batch, 60);
    case 80: return ENGINE(check)(batch, 80);
    default: return 0;
    }
}
