#ifndef CLIBSSL_SHIM_H
#define CLIBSSL_SHIM_H

#include <openssl/err.h>
#include <openssl/ssl.h>

#endif
