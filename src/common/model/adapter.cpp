#include "common/model/adapter.hpp"

namespace kernelpro {
namespace {

constexpr std::size_t nowhere = std::string::npos;

// Where `line` stands as a line of its own, if it does so once.
std::size_t only_place(const std::string& source, std::string_view line) {
  const std::size_t place = source.find(line);
  const bool whole = place == 0 || (place != nowhere && source[place - 1] == '\n');
  return whole && source.find(line, place + 1) == nowhere ? place : nowhere;
}

}  // namespace

std::optional<AdaptedSource> take_adapter_off(const std::string& source) {
  const std::size_t head = only_place(source, adapter_head);
  const std::size_t begin = only_place(source, adapter_begin);
  const std::size_t end = only_place(source, adapter_end);
  if (head == nowhere || begin == nowhere || end == nowhere || head > begin || begin > end) {
    return std::nullopt;
  }
  const std::size_t behind = end + adapter_end.size();
  AdaptedSource parts;
  parts.block = source.substr(begin, behind - begin);
  parts.own = source.substr(0, begin) + source.substr(behind);
  parts.own.erase(head, adapter_head.size());
  return parts;
}

std::size_t adapter_place(const std::string& source) {
  const std::size_t place = only_place(source, adapter_begin);
  return place == nowhere ? source.size() : place;
}

}  // namespace kernelpro
