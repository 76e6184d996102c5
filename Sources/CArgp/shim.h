#ifndef CARGP_SHIM_H
#define CARGP_SHIM_H

#include <argp.h>

#endif
