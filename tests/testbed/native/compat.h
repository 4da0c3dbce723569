// Included before every source of libcore's natives: see README.md.
#pragma once
#ifdef __cplusplus
#include <memory>
#include <string>
#include <vector>
#endif
#include <stdlib.h>
#include <string.h>
#ifndef __has_feature
#define __has_feature(feature) 0
#endif
