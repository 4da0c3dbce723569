// libcore's System.c asks for the version's text only, to answer a system property.
#pragma once
#define OPENSSL_VERSION_TEXT "none on this testbed"
