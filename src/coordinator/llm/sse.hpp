// Server-sent events, as a provider streams an answer.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace kernelpro {

struct SseEvent {
  std::string name;  // empty: a plain message
  std::string data;  // its lines, with '\n' between them

  friend bool operator==(const SseEvent&, const SseEvent&) = default;
};

// Takes bytes cut anywhere. As the HTML standard has it: lines end with CR, LF or both; an event
// ends with an empty line, and what comes after the last of these is no event. Ids and the time to
// reconnect are passed over: an answer cannot be taken up again.
class SseParser {
 public:
  // A line or an event that grows beyond `limit` bytes is an error, and so is all that follows.
  explicit SseParser(std::size_t limit = std::size_t{32} << 20U) : limit_(limit) {}

  // The events that end within these bytes.
  [[nodiscard]] Result<std::vector<SseEvent>> feed(std::string_view bytes);

 private:
  void end_line(std::vector<SseEvent>& events);
  void take_field(std::string_view name, std::string_view value);

  std::size_t limit_;
  std::string line_;
  SseEvent event_;
  bool has_data_ = false;
  bool begun_ = false;     // the first line is past its byte order mark
  bool after_cr_ = false;  // a LF now belongs to the CR before
  bool too_large_ = false;
};

}  // namespace kernelpro
