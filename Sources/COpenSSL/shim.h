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

static inline int shim_sk_X509_num(const STACK_OF(X509) *certificates) {
    return sk_X509_num(certificates);
}

static inline X509 *shim_sk_X509_value(const STACK_OF(X509) *certificates, int index) {
    return sk_X509_value(certificates, index);
}

static inline void shim_sk_X509_pop_free(STACK_OF(X509) *certificates) {
    sk_X509_pop_free(certificates, X509_free);
}

static inline long shim_BIO_get_mem_data(BIO *bio, char **bytes) {
    return BIO_get_mem_data(bio, bytes);
}

static inline int shim_ERR_GET_REASON(unsigned long code) {
    return ERR_GET_REASON(code);
}

#endif
