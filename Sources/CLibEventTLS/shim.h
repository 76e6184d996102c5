#ifndef CLIBEVENTTLS_SHIM_H
#define CLIBEVENTTLS_SHIM_H

// Before libevent's own headers, which otherwise define fd_set a second time.
#include <sys/types.h>

#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#endif
