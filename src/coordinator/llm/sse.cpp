#include "coordinator/llm/sse.hpp"

#include <utility>

namespace kernelpro {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

}  // namespace

Result<std::vector<SseEvent>> SseParser::feed(std::string_view bytes) {
  std::vector<SseEvent> events;
  while (!bytes.empty() && !too_large_) {
    if (std::exchange(after_cr_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const std::size_t end = bytes.find_first_of("\r\n");
    line_ += bytes.substr(0, end);
    too_large_ = line_.size() + event_.data.size() > limit_;
    if (end == std::string_view::npos) {
      break;
    }
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    end_line(events);
  }
  if (too_large_) {
    return make_error(ErrorKind::lost, "one event of the stream has more than " +
                                           std::to_string(limit_ >> 20U) + " MB");
  }
  return events;
}

void SseParser::end_line(std::vector<SseEvent>& events) {
  std::string_view line = line_;
  if (!std::exchange(begun_, true) && line.starts_with(byte_order_mark)) {
    line.remove_prefix(byte_order_mark.size());
  }
  if (line.empty()) {
    if (std::exchange(has_data_, false)) {
      event_.data.pop_back();
      events.push_back(std::move(event_));
    }
    event_ = {};
  } else if (line.front() != ':') {
    const std::size_t colon = line.find(':');
    std::string_view value =
        colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
    if (value.starts_with(' ')) {
      value.remove_prefix(1);
    }
    take_field(line.substr(0, colon), value);
  }
  line_.clear();
}

void SseParser::take_field(std::string_view name, std::string_view value) {
  if (name == "data") {
    event_.data += value;
    event_.data += '\n';
    has_data_ = true;
  } else if (name == "event") {
    event_.name = value;
  }
}

}  // namespace kernelpro
