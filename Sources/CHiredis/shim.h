#ifndef CHIREDIS_SHIM_H
#define CHIREDIS_SHIM_H

#include <sys/types.h>

#include <hiredis/adapters/libevent.h>
#include <hiredis/async.h>
#include <hiredis/hiredis.h>

#endif
