#include "coordinator/task/own_type.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include "coordinator/task/number_word.hpp"

namespace kernelpro {
namespace {

using Kind = OwnType::Kind;

std::string trimmed(std::string text) {
  const auto blank = [](unsigned char c) { return std::isspace(c) != 0; };
  text.erase(text.begin(), std::ranges::find_if_not(text, blank));
  while (!text.empty() && blank(static_cast<unsigned char>(text.back()))) {
    text.pop_back();
  }
  return text;
}

bool take_end(std::string& text, const std::string& ending) {
  if (!text.ends_with(ending)) {
    return false;
  }
  text = trimmed(text.substr(0, text.size() - ending.size()));
  return true;
}

bool is_word_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Takes a keyword off either end; true when it was there.
bool take_word(std::string& text, const std::string& word) {
  const std::size_t rest = text.size() - std::min(text.size(), word.size());
  if (text.ends_with(word) && (rest == 0 || !is_word_letter(text[rest - 1]))) {
    return take_end(text, word);
  }
  if (text.starts_with(word + " ")) {
    text = trimmed(text.substr(word.size()));
    return true;
  }
  return false;
}

void take_restrict(std::string& text) {
  while (take_word(text, "__restrict__") || take_word(text, "__restrict") ||
         take_word(text, "restrict")) {
  }
}

// "float" of "std::vector<float, std::allocator<float> >"; nothing of another template.
std::optional<std::string> argument_of(const std::string& text, const std::string& name) {
  if (!text.starts_with(name + "<") || !text.ends_with(">")) {
    return {};
  }
  const std::string inside = text.substr(name.size() + 1, text.size() - name.size() - 2);
  int depth = 0;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    depth += inside[i] == '<' || inside[i] == '(' ? 1 : 0;
    depth -= inside[i] == '>' || inside[i] == ')' ? 1 : 0;
    if (inside[i] == ',' && depth == 0) {
      return trimmed(inside.substr(0, i));
    }
  }
  return trimmed(inside);
}

struct Bounds {
  std::string text;  // "[3][64]"
  int count = 1;     // the product; 0 where one is no number
};

// Takes the bounds of an array off the end of its type.
std::optional<Bounds> take_bounds(std::string& text) {
  Bounds bounds;
  while (text.ends_with("]")) {
    const std::size_t open = text.rfind('[');
    if (open == std::string::npos) {
      return {};
    }
    int count = 0;
    std::from_chars(text.data() + open + 1, text.data() + text.size() - 1, count);
    bounds = {text.substr(open) + bounds.text, bounds.count * count};
    text = trimmed(text.substr(0, open));
  }
  return bounds.text.empty() ? std::nullopt : std::optional(bounds);
}

struct StandardArray {
  std::string element;
  int count = 0;
};

// "std::array<float, 16ul>", of more than one number.
std::optional<StandardArray> standard_array(const std::string& text) {
  const auto element = argument_of(text, "std::array");
  const std::size_t comma = text.rfind(',');
  if (!element || comma == std::string::npos) {
    return {};
  }
  StandardArray array{*element, 0};
  const std::string count = trimmed(text.substr(comma + 1));
  std::from_chars(count.data(), count.data() + count.size(), array.count);
  return array.count > 1 ? std::optional(array) : std::nullopt;
}

class TypeReader {
 public:
  TypeReader(const RecordLookup& lookup, bool many, const EnumLookup& enums)
      : lookup_(lookup), enums_(enums), many_(many) {}

  OwnType read(std::string text, int depth = 0) {
    OwnType type;
    type.text = trimmed(std::move(text));
    std::string rest = type.text;
    type.reference = take_end(rest, "&&") || take_end(rest, "&");
    take_restrict(rest);
    if (depth > 4) {
      return type;
    }
    if (read_array(rest, type, depth)) {
      return type;
    }
    bool constant = take_word(rest, "const");
    take_restrict(rest);
    constant = take_word(rest, "const") || constant;
    if (take_end(rest, "*")) {
      return pointer(rest, type, depth);
    }
    return value(rest, constant, type, depth);
  }

 private:
  // "float const (*) [3][64]" and, of a field, "float[9]".
  bool read_array(const std::string& text, OwnType& type, int depth) {
    std::string base = text;
    const auto bounds = take_bounds(base);
    if (!bounds) {
      return false;
    }
    const bool behind_pointer =
        take_end(base, "(*)") || take_end(base, "(* __restrict)") || take_end(base, "(&)");
    type.constant = take_word(base, "const");
    const auto element = element_of(base, depth);
    if (bounds->count <= 0 || !element) {
      return true;
    }
    type.element = *element;
    type.count = bounds->count;
    type.kind = behind_pointer ? Kind::tensor : Kind::fixed;
    if (behind_pointer) {
      type.element.lanes *= bounds->count;
      type.element.text += bounds->text;
    }
    return true;
  }

  OwnType pointer(std::string pointee, OwnType type, int depth) {
    type.constant = take_word(pointee, "const");
    if (type.reference || pointee.ends_with("*")) {
      return type;  // a pointer that is changed, or one to pointers
    }
    if (const auto element = element_of(pointee, depth)) {
      type.kind = Kind::tensor;
      type.element = *element;
      return type;
    }
    if (many_ && depth == 0 && read_parts(pointee, type)) {
      type.kind = Kind::tensor;
      return type;
    }
    read_record(pointee, type, depth);
    type.by_pointer = true;
    return type;
  }

  OwnType value(const std::string& text, bool constant, OwnType type, int depth) {
    type.constant = constant;
    const bool written = type.reference && !constant && !type.text.ends_with("&&");
    if (text == "void") {
      type.kind = Kind::nothing;
      return type;
    }
    if (text == "bool") {
      type.kind = written ? Kind::unknown : Kind::flag;
      return type;
    }
    if (read_container(text, written, type, depth)) {
      return type;
    }
    if (const auto element = element_of(text, depth)) {
      type.element = *element;
      if (written) {
        type.kind = Kind::tensor;
        return type;
      }
      if (element->lanes == 1) {
        type.kind = is_floating(element->dtype) ? Kind::real : Kind::whole;
        return type;
      }
    }
    read_record(text, type, depth);
    return type;
  }

  // What holds several elements and knows how many: written through a view's type, and through a
  // list where the caller sees it.
  bool read_container(const std::string& text, bool written, OwnType& type, int depth) {
    struct Container {
      const char* type;
      const char* as;  // generated code spells it so; empty: with its element
      Kind kind;
    };
    static const std::array<Container, 4> containers = {{
        {"std::vector", "", Kind::list},
        {"std::span", "", Kind::view},
        {"std::basic_string", "std::string", Kind::list},
        {"std::basic_string_view", "std::string_view", Kind::view},
    }};
    for (const Container& one : containers) {
      // A demangler knows std::string by that name.
      auto inner =
          text == one.as ? std::optional<std::string>("char") : argument_of(text, one.type);
      if (!inner) {
        continue;
      }
      const bool letters = *one.as != '\0';
      const bool constant = take_word(*inner, "const");
      type.constant =
          constant || (letters && one.kind == Kind::view) || (one.kind == Kind::list && !written);
      const auto element = letters && *inner != "char" ? std::nullopt : element_of(*inner, depth);
      const bool several = !element && !letters && read_parts(*inner, type);
      type.kind = element || several ? one.kind : Kind::unknown;
      type.element = several ? type.element : element.value_or(ElementType{});
      const std::string holds =
          (constant && one.kind == Kind::view ? "const " : "") + type.element.text;
      type.container = letters ? one.as : std::string(one.type) + "<" + holds + ">";
      return true;
    }
    return false;
  }

  // A number, a complex one, or a struct of numbers of one kind, which may stand in arrays and
  // structs of their own.
  std::optional<ElementType> element_of(const std::string& text, int depth) {
    if (const auto number = number_word(text)) {
      return ElementType{text, number->dtype, number->is_unsigned};
    }
    if (const auto inner = argument_of(text, "std::complex")) {
      const auto number = number_word(*inner);
      return number ? std::optional(ElementType{text, number->dtype, false, 2}) : std::nullopt;
    }
    if (depth > 4) {
      return {};
    }
    if (const auto array = standard_array(text)) {
      auto element = element_of(array->element, depth + 1);
      if (element) {
        element->text = text;
        element->lanes *= array->count;
      }
      return element;
    }
    if (auto one = enum_element(text)) {
      return one;
    }
    const auto fields = lookup_ ? lookup_(text) : std::nullopt;
    if (!fields || fields->empty()) {
      return {};
    }
    std::optional<ElementType> whole;
    for (const auto& [name, type] : *fields) {
      std::string base = trimmed(type);
      const auto bounds = take_bounds(base);
      const auto part = element_of(base, depth + 1);
      if (!part || (bounds && bounds->count <= 0) || (whole && !are_one_kind(*whole, *part))) {
        return {};
      }
      const int lanes = part->lanes * (bounds ? bounds->count : 1) + (whole ? whole->lanes : 0);
      whole = ElementType{text, part->dtype, part->is_unsigned, lanes, true, part->enumerators};
    }
    return whole;
  }

  static bool are_one_kind(const ElementType& one, const ElementType& other) {
    return one.dtype == other.dtype && one.enumerators == other.enumerators;
  }

  // A whole number that is one of a few.
  [[nodiscard]] std::optional<ElementType> enum_element(const std::string& text) const {
    const auto one = enums_ ? enums_(text) : std::nullopt;
    const auto number = one ? number_word(one->underlying) : std::nullopt;
    return number ? std::optional(ElementType{text, number->dtype, number->is_unsigned, 1, false,
                                              one->enumerators})
                  : std::nullopt;
  }

  // A struct of numbers of several kinds.
  bool read_parts(const std::string& text, OwnType& type) {
    std::vector<RecordPart> parts;
    if (!add_parts(text, "", parts, 0) || parts.size() < 2) {
      return false;
    }
    type.parts = std::move(parts);
    type.element = ElementType{text};
    return true;
  }

  bool add_parts(const std::string& text, const std::string& path, std::vector<RecordPart>& parts,
                 int depth) {
    const auto fields = depth > 4 || !lookup_ ? std::nullopt : lookup_(text);
    if (!fields || fields->empty()) {
      return false;
    }
    return std::ranges::all_of(*fields, [&](const auto& field) {
      std::string base = trimmed(field.second);
      const auto bounds = take_bounds(base);
      const std::string place = path + "." + field.first;
      auto element = element_of(base, depth + 1);
      if (!element) {
        return !bounds && add_parts(base, place, parts, depth + 1);
      }
      element->lanes *= bounds ? bounds->count : 1;
      parts.push_back({place, *element});
      return element->lanes > 0;
    });
  }

  // A std::array is a struct with an array in it, in the library that candidates are built with.
  [[nodiscard]] std::optional<RecordFields> fields_of(const std::string& text) const {
    if (const auto array = standard_array(text)) {
      return {{{"_M_elems", array->element + "[" + std::to_string(array->count) + "]"}}};
    }
    return lookup_ ? lookup_(text) : std::nullopt;
  }

  void read_record(const std::string& text, OwnType& type, int depth) {
    const auto fields = fields_of(text);
    if (!fields || fields->empty()) {
      return;
    }
    type.record = text;
    for (const auto& [name, field] : *fields) {
      type.fields.push_back({name, read(field, depth + 1)});
      const OwnType& read_field = type.fields.back().type;
      if (read_field.kind == Kind::unknown || read_field.kind == Kind::nothing ||
          read_field.reference) {
        return;
      }
    }
    type.kind = Kind::record;
  }

  const RecordLookup& lookup_;
  const EnumLookup& enums_;
  bool many_;
};

}  // namespace

OwnType parse_own_type(const std::string& text, const RecordLookup& lookup, bool many,
                       const EnumLookup& enums) {
  return TypeReader(lookup, many, enums).read(text);
}

}  // namespace kernelpro
