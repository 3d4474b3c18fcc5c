// The types of a user's function, as a compiler resolved them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/model/dtype.hpp"

namespace kernelpro {

struct Enumerator {
  std::string name;
  std::int64_t value = 0;

  friend bool operator==(const Enumerator&, const Enumerator&) = default;
};

struct OwnEnum {
  std::string underlying;  // "unsigned char"
  std::vector<Enumerator> enumerators;
};

// What a tensor's elements are in the user's code: numbers, or several of the same kind as one.
struct ElementType {
  std::string text;          // as generated code spells it: "std::complex<float>"
  DType dtype = DType::f32;  // of each number; unsigned ones travel as signed of their width
  bool is_unsigned = false;
  int lanes = 1;        // numbers of one element: 2 of a complex number
  bool record = false;  // a struct, which may have padding that no tensor has
  // Of an enum: the numbers that it is one of.
  std::vector<Enumerator> enumerators = {};  // NOLINT(readability-redundant-member-init)
};

// Numbers of one kind within a struct that has several.
struct RecordPart {
  std::string path;     // ".position", ".header.id"
  ElementType element;  // with all its lanes
};

struct OwnField;

struct OwnType {
  enum class Kind {
    nothing,  // void
    whole,    // a whole number by value
    flag,     // a bool by value
    real,     // a floating number by value
    tensor,   // a pointer, or a reference to one element
    list,     // std::vector, std::string
    view,     // std::span, std::string_view
    record,   // a plain struct whose fields are such types
    fixed,    // an array inside of a record
    unknown,
  };

  Kind kind = Kind::unknown;
  std::string text;       // "const float*", for messages and casts
  bool constant = false;  // what is behind the pointer, or the list itself
  bool reference = false;
  bool by_pointer = false;  // a record
  int count = 0;            // of `fixed`
  ElementType element;      // of tensors, lists and views; `dtype` of numbers
  std::string record;       // its name
  std::string container;    // of lists and views: "std::vector<float>"
  std::vector<OwnField> fields;
  std::vector<RecordPart> parts;  // of tensors, lists and views: an element has several kinds
};

struct OwnField {
  std::string name;
  OwnType type;
};

// Name and type text of each field of a struct, in their order.
using RecordFields = std::vector<std::pair<std::string, std::string>>;

// Nothing where it is no plain struct.
using RecordLookup = std::function<std::optional<RecordFields>(const std::string& name)>;

// Nothing where it is no enum.
using EnumLookup = std::function<std::optional<OwnEnum>(const std::string& name)>;

// From a compiler's words: "float const*", "std::vector<float, std::allocator<float> > const&".
// `many`: a pointer to a struct leads to an array of them; else to one.
[[nodiscard]] OwnType parse_own_type(const std::string& text, const RecordLookup& lookup,
                                     bool many = false, const EnumLookup& enums = {});

}  // namespace kernelpro
