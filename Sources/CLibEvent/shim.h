#ifndef CLIBEVENT_SHIM_H
#define CLIBEVENT_SHIM_H

// Before libevent's own headers, which otherwise define fd_set a second time.
#include <sys/types.h>

#include <event2/event.h>
#include <event2/listener.h>
#include <linux/filter.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#endif
