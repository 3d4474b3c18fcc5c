#include "common/base/duration.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

namespace kernelpro {

namespace {

constexpr std::array<std::pair<std::string_view, double>, 5> units = {
    {{"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}, {"ms", 0.001}}};

// Takes a number off the front: digits and at most one point, no sign and no exponent.
std::optional<double> take_number(std::string_view& text) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  const bool digit = !text.empty() && (text[0] == '.' || (text[0] >= '0' && text[0] <= '9'));
  if (error != std::errc() || !digit || !std::isfinite(number)) {
    return {};
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// Takes the unit off the front, which must be smaller than the last one; returns its place.
std::optional<std::size_t> take_unit(std::string_view& text, std::size_t from) {
  const std::string_view name = text.substr(0, text.find_first_of("0123456789."));
  for (std::size_t at = from; at < units.size(); ++at) {
    if (units.at(at).first == name) {
      text.remove_prefix(name.size());
      return at;
    }
  }
  return {};
}

}  // namespace

std::optional<double> parse_duration(std::string_view text) {
  std::optional<double> number = take_number(text);
  if (!number || text.empty()) {
    return number;
  }
  double seconds = 0;
  for (std::size_t from = 0;;) {
    const std::optional<std::size_t> unit = take_unit(text, from);
    if (!unit) {
      return {};
    }
    seconds += *number * units.at(*unit).second;
    if (text.empty()) {
      return seconds;
    }
    from = *unit + 1;
    number = take_number(text);
    if (!number) {
      return {};
    }
  }
}

}  // namespace kernelpro
