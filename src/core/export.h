/* DECIDES. All symbols of a library are hidden but those of the public headers and those marked here, which its other libraries and the program
 * need. They have a symbol version of this release alone, so that the loader refuses parts of different releases. */
#pragma once

#define TKI_EXPORT __attribute__((visibility("default")))
