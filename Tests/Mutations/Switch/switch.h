// Which mutant a process is, and which it has come to: the environment says it.
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static int mutant_active = -1;
static unsigned char *mutant_reached = 0;

static inline void mutant_begin(void) {
    const char *number = getenv("MUTANT"), *file = getenv("MUTANTS_REACHED");
    if (file) {
        int descriptor = open(file, O_RDWR | O_CLOEXEC);
        off_t size = descriptor < 0 ? 0 : lseek(descriptor, 0, SEEK_END);
        void *bytes = size > 0 ? mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0) : MAP_FAILED;
        if (bytes != MAP_FAILED) mutant_reached = bytes;
        if (descriptor >= 0) close(descriptor);
    }
    mutant_active = number ? atoi(number) : 0;
}

static inline bool mutant(int number) {
    if (mutant_active < 0) mutant_begin();
    if (mutant_reached) mutant_reached[number] = 1;
    return number == mutant_active;
}
