#ifndef CZLIB_SHIM_H
#define CZLIB_SHIM_H

/* The input of a stream is not written to. */
#define ZLIB_CONST
#include <zlib.h>

#endif
