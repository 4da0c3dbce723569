// Names of ICU's resource bundle trees: a tree is called "<data name>-<tree>".
#pragma once
#include <unicode/udata.h>
#include <unicode/utypes.h>

#define U_ICUDATA_CURR U_ICUDATA_NAME "-curr"
#define U_ICUDATA_LANG U_ICUDATA_NAME "-lang"
#define U_ICUDATA_REGION U_ICUDATA_NAME "-region"
#define U_ICUDATA_ZONE U_ICUDATA_NAME "-zone"
