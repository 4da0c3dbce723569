// Stands in for OpenSSL: build ids are not asked for, the functions only have to be there.
#pragma once
#include <cstddef>
#include <cstdlib>
struct SHA_CTX {};
inline int SHA1_Init(SHA_CTX*) { std::abort(); }
inline int SHA1_Update(SHA_CTX*, const void*, size_t) { std::abort(); }
inline int SHA1_Final(unsigned char*, SHA_CTX*) { std::abort(); }
