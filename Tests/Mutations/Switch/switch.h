// Which mutant a process is, and which it has come to: the environment says it.
#pragma once
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static int mutant_active = -1;
static unsigned char *mutant_reached = 0;

static inline void mutant_begin(void) {
    const char *number = getenv("MUTANT"), *file = getenv("MUTANTS_REACHED");
    FILE *stream = file ? fopen(file, "r+e") : 0;
    if (stream) {
        long size = fseek(stream, 0, SEEK_END) == 0 ? ftell(stream) : 0;
        void *bytes = size > 0 ? mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(stream), 0) : MAP_FAILED;
        if (bytes != MAP_FAILED) mutant_reached = bytes;
        fclose(stream);
    }
    mutant_active = number ? atoi(number) : 0;
}

static inline bool mutant(int number) {
    if (mutant_active < 0) mutant_begin();
    if (mutant_reached) mutant_reached[number] = 1;
    return number == mutant_active;
}
