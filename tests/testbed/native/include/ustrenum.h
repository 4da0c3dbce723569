// icu::UStringEnumeration: the C++ face of a C enumeration, over ICU's public functions.
#pragma once
#include <unicode/strenum.h>
#include <unicode/uenum.h>

U_NAMESPACE_BEGIN

class UStringEnumeration : public StringEnumeration {
  public:
    explicit UStringEnumeration(UEnumeration* enumeration) : enumeration_(enumeration) {}
    ~UStringEnumeration() override { uenum_close(enumeration_); }

    int32_t count(UErrorCode& status) const override { return uenum_count(enumeration_, &status); }

    const UnicodeString* snext(UErrorCode& status) override {
        int32_t length = 0;
        const UChar* text = uenum_unext(enumeration_, &length, &status);
        if (text == nullptr || U_FAILURE(status)) return nullptr;
        unistr.setTo(text, length);
        return &unistr;
    }

    void reset(UErrorCode& status) override { uenum_reset(enumeration_, &status); }
    UClassID getDynamicClassID() const override { return nullptr; }

  private:
    UEnumeration* enumeration_;
};

U_NAMESPACE_END
