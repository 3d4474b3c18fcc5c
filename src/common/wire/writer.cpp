#include "common/wire/writer.hpp"

#include <algorithm>
#include <iomanip>
#include <iterator>
#include <sstream>

namespace kernelpro::wire {

namespace {

// The well-formed sequences of UTF-8, as the Unicode standard lists them (table 3-7): the first
// byte, the second byte, and how many there are. All others are from 80 to BF.
struct Sequence {
  unsigned char first_low, first_high, second_low, second_high;
  std::size_t length;
};

constexpr Sequence sequences[] = {
    {0x00, 0x7F, 0x00, 0xFF, 1}, {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
    {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
    {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4}};

bool fits(std::string_view text, const Sequence& sequence) {
  const auto within = [&](std::size_t i, unsigned char low, unsigned char high) {
    const auto byte = static_cast<unsigned char>(text[i]);
    return low <= byte && byte <= high;
  };
  bool fits = text.size() >= sequence.length && within(0, sequence.first_low, sequence.first_high);
  for (std::size_t i = 1; i < sequence.length && fits; ++i) {
    fits = i == 1 ? within(1, sequence.second_low, sequence.second_high) : within(i, 0x80, 0xBF);
  }
  return fits;
}

// The bytes of the well-formed sequence that `text` starts with; 0 when it starts with none.
std::size_t sequence_length(std::string_view text) {
  const auto* found = std::ranges::find_if(
      sequences, [text](const Sequence& sequence) { return fits(text, sequence); });
  return found == std::end(sequences) ? 0 : found->length;
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

std::string hexadecimal(std::uint64_t value) {
  std::ostringstream text;
  text << "0x" << std::hex << std::setw(16) << std::setfill('0') << value;
  return text.str();
}

}  // namespace kernelpro::wire
