#include "worker/profile/ncu_numbers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "common/base/text.hpp"

namespace kernelpro {
namespace {

using std::string_view;

constexpr string_view all_digits = "0123456789";
// Longer is no number: the largest double has 309 digits before its point, and ncu prints few.
constexpr std::size_t longest_number = 400;

// A cell without blanks around it, and without the end of its line.
string_view cell_text(string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    text.remove_prefix(1);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) {
    text.remove_suffix(1);
  }
  return text;
}

// The bytes of a separator of digits that is neither point nor comma; 0: none stands there.
std::size_t blank_at(string_view text) {
  for (const string_view blank : {string_view(" "), string_view("'"), string_view("\u00a0"),
                                  string_view("\u202f"), string_view("\u2019")}) {
    if (text.starts_with(blank)) {
      return blank.size();
    }
  }
  return 0;
}

// A number taken apart: "-1 234,56e+3".
struct Pieces {
  bool negative = false;
  string_view body;      // digits and separators
  string_view exponent;  // with its sign, without the e
  bool has_exponent = false;
};

// Nothing: this is no number in any notation.
std::optional<Pieces> take_apart(string_view text) {
  Pieces pieces;
  if (text.starts_with('-') || text.starts_with('+')) {
    pieces.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  const std::size_t e = text.find_first_of("eE");
  pieces.body = text.substr(0, e);
  if (e != string_view::npos) {
    pieces.has_exponent = true;
    pieces.exponent = text.substr(e + 1);
    string_view power = pieces.exponent;
    if (power.starts_with('-') || power.starts_with('+')) {
      power.remove_prefix(1);
    }
    if (power.empty() || power.find_first_not_of(all_digits) != string_view::npos) {
      return std::nullopt;
    }
  }
  if (pieces.body.empty() || !is_digit(pieces.body.front()) || !is_digit(pieces.body.back())) {
    return std::nullopt;
  }
  for (std::size_t at = 0; at < pieces.body.size();) {
    const char c = pieces.body[at];
    const std::size_t wide =
        is_digit(c) || c == '.' || c == ',' ? 1 : blank_at(pieces.body.substr(at));
    if (wide == 0) {
      return std::nullopt;
    }
    at += wide;
  }
  return pieces;
}

// The digits alone, where groups of three are set apart by one and the same separator.
bool ungroup(string_view whole, char group, std::string& into) {
  string_view separator;
  std::size_t in_group = 0;
  for (std::size_t at = 0; at < whole.size();) {
    if (is_digit(whole[at])) {
      into += whole[at++];
      ++in_group;
      continue;
    }
    const std::size_t wide = whole[at] == group ? 1 : blank_at(whole.substr(at));
    if (wide == 0) {
      return false;
    }
    const string_view here = whole.substr(at, wide);
    const bool first = separator.empty();
    if ((!first && here != separator) || in_group > 3 || in_group == 0 ||
        (!first && in_group != 3)) {
      return false;
    }
    separator = here;
    in_group = 0;
    at += wide;
  }
  return separator.empty() || in_group == 3;
}

std::optional<double> to_double(const std::string& plain) {
  double value = 0;
  const char* end = plain.data() + plain.size();
  const auto [stop, problem] = std::from_chars(plain.data(), end, value);
  if (problem != std::errc() || stop != end) {
    return std::nullopt;
  }
  return value;
}

Cell unreadable() {
  return {.value = 0, .kind = CellKind::unreadable};
}

Cell grouped_number(string_view text, Notation notation) {
  if (text.size() > longest_number) {
    return {.value = 0, .kind = CellKind::text};
  }
  const std::optional<Pieces> pieces = take_apart(text);
  if (!pieces) {
    return {.value = 0, .kind = CellKind::text};
  }
  const char decimal = notation == Notation::point ? '.' : ',';
  const char group = notation == Notation::point ? ',' : '.';
  const std::size_t point = pieces->body.find(decimal);
  std::string plain = pieces->negative ? "-" : "";
  if (!ungroup(pieces->body.substr(0, point), group, plain)) {
    return unreadable();
  }
  if (point != string_view::npos) {
    const string_view fraction = pieces->body.substr(point + 1);
    if (fraction.find_first_not_of(all_digits) != string_view::npos) {
      return unreadable();
    }
    plain.append(".").append(fraction);
  }
  if (pieces->has_exponent) {
    plain.append("e").append(pieces->exponent);
  }
  const std::optional<double> value = to_double(plain);
  return value ? Cell{.value = *value, .kind = CellKind::number} : unreadable();
}

bool same_word(string_view text, string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(), [](char a, char b) {
    return a == b || (a >= 'A' && a <= 'Z' && a - 'A' + 'a' == b);
  });
}

template <std::size_t count>
bool one_of(string_view text, const std::array<string_view, count>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](string_view word) { return same_word(text, word); });
}

CellKind kind_of_word(string_view text) {
  constexpr std::array<string_view, 6> none = {"n/a", "na",   "no data",
                                               "-",   "none", "not available"};
  constexpr std::array<string_view, 4> endless = {"nan", "inf", "infinity", "nan(ind)"};
  // ncu's mark for a value that it does not vouch for.
  if (text.starts_with("(!)") || one_of(text, none)) {
    return CellKind::unavailable;
  }
  if (text.front() == '-' || text.front() == '+') {
    text.remove_prefix(1);
  }
  return one_of(text, endless) ? CellKind::not_finite : CellKind::text;
}

}  // namespace

std::optional<Notation> notation_of(string_view cell, bool count) {
  cell = cell_text(cell);
  const std::size_t first = cell.find_first_of(".,");
  if (first == string_view::npos || cell.size() > longest_number) {
    return std::nullopt;
  }
  const std::optional<Pieces> pieces = take_apart(cell);
  if (!pieces) {
    return std::nullopt;
  }
  const string_view body = pieces->body;
  const std::size_t last = body.find_last_of(".,");
  const std::size_t begin = body.find_first_of(".,");
  const auto reads = [&](Notation notation) {
    return grouped_number(cell, notation).kind == CellKind::number;
  };
  if (reads(Notation::point) != reads(Notation::comma)) {
    return reads(Notation::point) ? Notation::point : Notation::comma;
  }
  if (!reads(Notation::point) || begin != last) {
    return std::nullopt;
  }
  // One separator with three digits behind it is left: "1,234". No group begins with a zero.
  const char separator = body[last];
  const auto before = separator == '.' ? Notation::point : Notation::comma;
  const auto grouping = separator == '.' ? Notation::comma : Notation::point;
  if (body.front() == '0' || pieces->has_exponent) {
    return before;
  }
  return count ? std::optional(grouping) : std::nullopt;
}

Cell read_cell(string_view cell, Notation notation) {
  cell = cell_text(cell);
  if (cell.empty()) {
    return {};
  }
  const bool has_sign = cell.front() == '-' || cell.front() == '+';
  const std::size_t begin = has_sign ? 1 : 0;
  if (begin == cell.size() || !is_digit(cell[begin])) {
    return {.value = 0, .kind = kind_of_word(cell)};
  }
  double value = 0;
  const auto [stop, problem] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  const bool plain = stop == cell.data() + cell.size() && problem == std::errc() &&
                     (notation == Notation::point || cell.find('.') == string_view::npos);
  if (plain) {
    return {.value = value, .kind = CellKind::number};
  }
  return grouped_number(cell, notation);
}

string_view why_not(CellKind kind) {
  switch (kind) {
    case CellKind::number:
      return "it is a number";
    case CellKind::text:
      return "it is a text";
    case CellKind::empty:
      return "ncu left it empty";
    case CellKind::unavailable:
      return "ncu says that it is not available";
    case CellKind::not_finite:
      return "ncu could not compute it";
    case CellKind::unreadable:
      return "its digits cannot be read with certainty";
  }
  return "";
}

namespace {

struct NamedScale {
  string_view name;
  double scale;
};

// Sums of bytes are decimal in ncu: 33554432 bytes are 33.554432 Mbyte.
constexpr std::array<NamedScale, 5> prefixes = {
    {{"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15}}};
constexpr std::array<string_view, 13> nouns = {
    "byte",    "hz",     "inst",  "sector", "sectors",   "cycle",   "warp",
    "request", "thread", "block", "sample", "wavefront", "register"};
// In seconds; the short names, and the long ones of older versions.
constexpr std::array<NamedScale, 8> named_times = {{{"s", 1},
                                                    {"ms", 1e-3},
                                                    {"us", 1e-6},
                                                    {"ns", 1e-9},
                                                    {"second", 1},
                                                    {"msecond", 1e-3},
                                                    {"usecond", 1e-6},
                                                    {"nsecond", 1e-9}}};

std::optional<double> seconds_of(string_view unit) {
  for (const NamedScale& time : named_times) {
    if (unit == time.name) {
      return time.scale;
    }
  }
  return std::nullopt;
}

// One side of a fraction.
Unit side(string_view unit) {
  for (const NamedScale& prefix : prefixes) {
    if (!unit.starts_with(prefix.name)) {
      continue;
    }
    const string_view noun = unit.substr(prefix.name.size());
    if (std::find(nouns.begin(), nouns.end(), noun) != nouns.end()) {
      return {.name = std::string(noun), .scale = prefix.scale};
    }
  }
  return {.name = std::string(unit), .scale = 1};
}

}  // namespace

Unit base_unit(string_view unit) {
  unit = cell_text(unit);
  const std::size_t slash = unit.find('/');
  if (slash == string_view::npos) {
    if (const std::optional<double> seconds = seconds_of(unit)) {
      return {.name = "ns", .scale = std::round(*seconds * 1e9)};
    }
    return side(unit);
  }
  const string_view below = unit.substr(slash + 1);
  const std::optional<double> seconds = seconds_of(below);
  const Unit above = side(unit.substr(0, slash));
  const Unit under = seconds ? Unit{.name = "s", .scale = *seconds} : side(below);
  return {.name = above.name + "/" + under.name, .scale = above.scale / under.scale};
}

}  // namespace kernelpro
