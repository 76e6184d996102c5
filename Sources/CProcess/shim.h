#ifndef CPROCESS_SHIM_H
#define CPROCESS_SHIM_H

#include <sys/prctl.h>

/* Keeps other processes of the user from reading this one's memory, and the kernel from writing it to a file. Swift imports no
   variadic function. */
static inline int process_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L); }

#endif
