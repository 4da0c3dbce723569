// The functions of libbase (Android's C++ helper library) that libcore's natives call.
//
// libbase's C++ interface differs between the releases that the testbeds come from; with these inside, one build
// of the natives runs on all of them. exports.map keeps them from being seen outside.
#include <android-base/file.h>
#include <android-base/logging.h>
#include <android-base/stringprintf.h>
#include <android-base/strings.h>
#include <android/log.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <sstream>

namespace android {
namespace base {

// The header only names this class; what it holds is the implementation's business.
class LogMessageData {
  public:
    LogMessageData(const char* file, unsigned int line, LogSeverity severity, int error)
        : file(file), line(line), severity(severity), error(error) {}

    const char* const file;
    const unsigned int line;
    const LogSeverity severity;
    const int error;
    std::ostringstream text;
};

LogMessage::LogMessage(const char* file, unsigned int line, LogId, LogSeverity severity, const char*, int error)
    : data_(new LogMessageData(file, line, severity, error)) {}

LogMessage::~LogMessage() {
    const bool fatal = data_->severity == FATAL || data_->severity == FATAL_WITHOUT_ABORT;
    if (data_->error != -1) data_->text << ": " << strerror(data_->error);
    __android_log_print(fatal ? ANDROID_LOG_FATAL : ANDROID_LOG_WARN, "libcore", "%s:%u %s", data_->file,
                        data_->line, data_->text.str().c_str());
    if (data_->severity == FATAL) abort();
}

std::ostream& LogMessage::stream() { return data_->text; }

std::string StringPrintf(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char* text = nullptr;
    const int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0) return {};
    std::string result(text, length);
    free(text);
    return result;
}

std::vector<std::string> Split(const std::string& text, const std::string& delimiters) {
    std::vector<std::string> parts;
    size_t start = 0;
    for (;;) {
        const size_t end = text.find_first_of(delimiters, start);
        parts.push_back(text.substr(start, end - start));
        if (end == std::string::npos) return parts;
        start = end + 1;
    }
}

bool Readlink(const std::string& path, std::string* result) {
    char target[PATH_MAX];
    const ssize_t length = readlink(path.c_str(), target, sizeof(target));
    if (length < 0) return false;
    result->assign(target, length);
    return true;
}

}  // namespace base
}  // namespace android
