#ifndef CLIBEVENT_SHIM_H
#define CLIBEVENT_SHIM_H

// Before libevent's own headers, which otherwise define fd_set a second time.
#include <sys/types.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <sys/eventfd.h>

#endif
