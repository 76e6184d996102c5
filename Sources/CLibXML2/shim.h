#ifndef CLIBXML2_SHIM_H
#define CLIBXML2_SHIM_H

// libxml2's headers would pull in ICU's, which clash with Foundation's.
#include <libxml/xmlversion.h>
#undef LIBXML_ICU_ENABLED

#include <libxml/c14n.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/tree.h>
#include <libxml/xmlerror.h>

// A variable that holds a function, different for each thread: not importable.
static inline void shim_xmlFree(void *pointer) {
    xmlFree(pointer);
}

#endif
