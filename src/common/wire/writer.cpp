#include "common/wire/writer.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "common/base/secret.hpp"

namespace kernelpro::wire {

namespace {

using nlohmann::json;

bool is_continuation(unsigned char byte) {
  return (byte & 0xC0U) == 0x80U;
}

// The bytes that a first byte of more than one announces.
std::size_t announced_length(unsigned char lead) {
  if (lead < 0xE0U) {
    return 2;
  }
  return lead < 0xF0U ? 3 : 4;
}

// The bytes of the well-formed UTF-8 sequence that `text` starts with; 0 when it starts with none.
// The second byte's range excludes overlong forms, surrogates and what is past U+10FFFF.
std::size_t sequence_length(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80U) {
    return 1;
  }
  if (lead < 0xC2U || lead > 0xF4U) {
    return 0;
  }
  const std::size_t length = announced_length(lead);
  if (text.size() < length) {
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(at(i))) {
      return 0;
    }
  }
  const unsigned char second = at(1);
  const bool overlong = (lead == 0xE0U && second < 0xA0U) || (lead == 0xF0U && second < 0x90U);
  const bool surrogate = lead == 0xEDU && second > 0x9FU;
  const bool past_the_end = lead == 0xF4U && second > 0x8FU;
  return overlong || surrogate || past_the_end ? 0 : length;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0) {
      valid += "\xEF\xBF\xBD";
    } else {
      valid += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return valid;
}

json write_text(std::string_view text) {
  return valid_utf8(text);
}

json write_number(double value) {
  return std::isfinite(value) ? json(value) : json(nullptr);
}

json write_hexadecimal(std::uint64_t value) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text = "0x";
  for (int shift = 60; shift >= 0; shift -= 4) {
    text += digits[(value >> static_cast<unsigned>(shift)) & 0xFU];
  }
  return text;
}

json write_key(const Key& key) {
  return key_text(key);
}

json write_interval(const Interval& interval) {
  return json::array({write_number(interval.low), write_number(interval.high)});
}

json write_axes(const Axes& axes) {
  json object = json::object();
  for (const auto& [name, extent] : axes) {
    object[valid_utf8(name)] = extent;
  }
  return object;
}

json write_texts(const std::vector<std::string>& texts) {
  return write_list(texts, [](const std::string& text) { return write_text(text); });
}

json write_text_map(const std::map<std::string, std::string>& texts) {
  json object = json::object();
  for (const auto& [name, text] : texts) {
    object[valid_utf8(name)] = write_text(text);
  }
  return object;
}

json write_numbers(const std::vector<double>& values) {
  return write_list(values, write_number);
}

json write_formulas(const std::vector<Formula>& formulas) {
  return write_list(formulas, [](const Formula& formula) { return write_text(formula.text()); });
}

}  // namespace kernelpro::wire
