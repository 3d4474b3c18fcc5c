// Lines of the file that libkernelpro_trace.so writes, field by field.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <system_error>

#include "worker/profile/recording.hpp"

namespace kernelpro {

// The fields of one line, taken from its front. After a field that is not as it should be, it is
// bad and gives nothing more.
class LineFields {
 public:
  explicit LineFields(std::string_view line) : rest_(line) {}

  std::string_view word() {
    const std::size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string_view out = rest_.substr(0, end);
    rest_ = rest_.substr(std::min(end + 1, rest_.size()));
    bad_ = bad_ || out.empty();
    return out;
  }

  template <typename T>
  T number() {
    T value{};
    const std::string_view digits = word();
    const auto [end, failure] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value);
    bad_ = bad_ || failure != std::errc() || end != digits.data() + digits.size();
    return bad_ ? T{} : value;
  }

  std::int64_t amount() {
    const auto value = number<std::int64_t>();
    bad_ = bad_ || value < 0;
    return value;
  }

  std::int64_t time() {
    if (rest_.starts_with('-') && (rest_.size() == 1 || rest_[1] == ' ')) {
      (void)word();
      return no_time;
    }
    const auto value = number<std::int64_t>();
    bad_ = bad_ || value > latest_time || value < -latest_time;
    return value;
  }

  template <typename Record>
  void times(Record& record) {
    record.start_ns = time();
    record.end_ns = time();
    bad_ = bad_ || (record.start_ns == no_time) != (record.end_ns == no_time) ||
           record.end_ns < record.start_ns;
  }

  [[nodiscard]] std::string_view rest() const { return rest_; }
  [[nodiscard]] bool all_read() const { return !bad_ && rest_.empty(); }
  [[nodiscard]] bool bad() const { return bad_; }

 private:
  std::string_view rest_;
  bool bad_ = false;
};

}  // namespace kernelpro
