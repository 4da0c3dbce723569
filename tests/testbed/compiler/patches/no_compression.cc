// Stands in for libelffile/elf/xz_utils.cc: compressed debug information is never asked for on a testbed.
#include "elf/xz_utils.h"

#include <cstdlib>

namespace art {

void XzCompress(ArrayRef<const uint8_t>, std::vector<uint8_t>*, int) { std::abort(); }

void XzDecompress(ArrayRef<const uint8_t>, std::vector<uint8_t>*) { std::abort(); }

}  // namespace art
