// Numbers and units as ncu writes them, in the notation of any locale.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kernelpro {

// What stands before the fraction. The other of the two, a space or an apostrophe may group digits.
enum class Notation { point, comma };

// What a cell says of the notation it is written in, nothing for most cells. "1,234" says it only
// as a count, which has no fraction; "12,345.6", "1,234,567", "0.5" and "1234.5" say it always.
[[nodiscard]] std::optional<Notation> notation_of(std::string_view cell, bool count);

// What a cell holds.
enum class CellKind : std::uint8_t {
  number,
  text,
  empty,
  unavailable,  // "n/a", "no data": ncu says that there is no value
  not_finite,   // "nan", "inf"
  unreadable,   // digits that make no number in this notation
};

struct Cell {
  double value = 0;  // of a number
  CellKind kind = CellKind::empty;
};

[[nodiscard]] Cell read_cell(std::string_view cell, Notation notation);

// Why a cell is no number, for people.
[[nodiscard]] std::string_view why_not(CellKind kind);

// A unit without its prefixes: bytes, nanoseconds, hertz; rates are per second. A unit that is not
// known stays as it is.
struct Unit {
  std::string name;
  double scale = 1;  // a value times this is in that unit
};

[[nodiscard]] Unit base_unit(std::string_view unit);

}  // namespace kernelpro
