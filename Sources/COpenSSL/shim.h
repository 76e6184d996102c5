#ifndef COPENSSL_SHIM_H
#define COPENSSL_SHIM_H

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

// These are macros, which Swift cannot call.

static const unsigned long shim_XN_FLAG_RFC2253 = XN_FLAG_RFC2253;
static const int shim_MBSTRING_UTF8 = MBSTRING_UTF8;

/// Whoever makes the name keeps it until the setting has been read.
static inline OSSL_PARAM shim_mac_digest(char *name) {
    return OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name, 0);
}

static inline int shim_sk_PKCS7_num(const STACK_OF(PKCS7) *safes) {
    return sk_PKCS7_num(safes);
}

static inline PKCS7 *shim_sk_PKCS7_value(const STACK_OF(PKCS7) *safes, int index) {
    return sk_PKCS7_value(safes, index);
}

static inline void shim_sk_PKCS7_pop_free(STACK_OF(PKCS7) *safes) {
    sk_PKCS7_pop_free(safes, PKCS7_free);
}

static inline int shim_sk_PKCS12_SAFEBAG_num(const STACK_OF(PKCS12_SAFEBAG) *bags) {
    return sk_PKCS12_SAFEBAG_num(bags);
}

static inline const PKCS12_SAFEBAG *shim_sk_PKCS12_SAFEBAG_value(const STACK_OF(PKCS12_SAFEBAG) *bags, int index) {
    return sk_PKCS12_SAFEBAG_value(bags, index);
}

static inline void shim_sk_PKCS12_SAFEBAG_pop_free(STACK_OF(PKCS12_SAFEBAG) *bags) {
    sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free);
}

/// What an encrypted PKCS7 is encrypted with; NULL if it names nothing. Swift does not see the union that has it.
static inline const X509_ALGOR *shim_PKCS7_encryption(const PKCS7 *safe) {
    const PKCS7_ENCRYPT *encrypted = PKCS7_type_is_encrypted(safe) ? safe->d.encrypted : NULL;
    return encrypted && encrypted->enc_data ? encrypted->enc_data->algorithm : NULL;
}

static inline long shim_BIO_get_mem_data(BIO *bio, char **bytes) {
    return BIO_get_mem_data(bio, bytes);
}

static inline int shim_ERR_GET_REASON(unsigned long code) {
    return ERR_GET_REASON(code);
}

#endif
