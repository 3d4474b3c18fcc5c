#include "coordinator/task/own_type.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <utility>

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

struct Number {
  DType dtype;
  bool is_unsigned = false;
};

std::optional<Number> number_of(const std::string& text) {
  static const std::map<std::string, Number> numbers = {
      {"float", {DType::f32}},
      {"double", {DType::f64}},
      {"int", {DType::i32}},
      {"unsigned int", {DType::i32, true}},
      {"unsigned", {DType::i32, true}},
      {"long", {DType::i64}},
      {"unsigned long", {DType::i64, true}},
      {"long long", {DType::i64}},
      {"unsigned long long", {DType::i64, true}},
      {"short", {DType::i16}},
      {"unsigned short", {DType::i16, true}},
      {"signed char", {DType::i8}},
      {"char", {DType::i8}},
      {"unsigned char", {DType::u8}},
      {"int8_t", {DType::i8}},
      {"uint8_t", {DType::u8}},
      {"int16_t", {DType::i16}},
      {"uint16_t", {DType::i16, true}},
      {"int32_t", {DType::i32}},
      {"uint32_t", {DType::i32, true}},
      {"int64_t", {DType::i64}},
      {"uint64_t", {DType::i64, true}},
      {"size_t", {DType::i64, true}},
      {"ptrdiff_t", {DType::i64}},
  };
  const std::string plain = text.starts_with("std::") ? text.substr(5) : text;
  const auto found = numbers.find(plain);
  return found == numbers.end() ? std::nullopt : std::optional(found->second);
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

class TypeReader {
 public:
  explicit TypeReader(const RecordLookup& lookup) : lookup_(lookup) {}

  OwnType read(std::string text, int depth = 0) {
    OwnType type;
    type.text = trimmed(std::move(text));
    std::string rest = type.text;
    type.reference = take_end(rest, "&&") || take_end(rest, "&");
    take_restrict(rest);
    if (depth > 4) {
      return type;
    }
    if (read_array(rest, type)) {
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
  // "float const (*) [64]" and, of a field, "float[9]".
  bool read_array(const std::string& text, OwnType& type) {
    const std::size_t open = text.rfind('[');
    if (open == std::string::npos || !text.ends_with("]")) {
      return false;
    }
    int count = 0;
    const std::string inside = text.substr(open + 1, text.size() - open - 2);
    std::from_chars(inside.data(), inside.data() + inside.size(), count);
    std::string base = trimmed(text.substr(0, open));
    const bool behind_pointer =
        take_end(base, "(*)") || take_end(base, "(* __restrict)") || take_end(base, "(&)");
    type.constant = take_word(base, "const");
    const auto element = element_of(base);
    if (count <= 0 || !element) {
      return true;
    }
    type.element = *element;
    type.count = count;
    type.kind = behind_pointer ? Kind::tensor : Kind::fixed;
    if (behind_pointer) {
      type.element.lanes *= count;
      type.element.text += "[" + std::to_string(count) + "]";
    }
    return true;
  }

  OwnType pointer(std::string pointee, OwnType type, int depth) {
    type.constant = take_word(pointee, "const");
    if (type.reference || pointee.ends_with("*")) {
      return type;  // a pointer that is changed, or one to pointers
    }
    if (const auto element = element_of(pointee)) {
      type.kind = Kind::tensor;
      type.element = *element;
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
    for (const auto& [name, kind] :
         {std::pair{"std::vector", Kind::list}, {"std::span", Kind::view}}) {
      if (auto inner = argument_of(text, name)) {
        type.constant = take_word(*inner, "const") || (kind == Kind::list && !written);
        const auto element = element_of(*inner);
        type.kind = element ? kind : Kind::unknown;
        type.element = element.value_or(ElementType{});
        return type;
      }
    }
    if (const auto element = element_of(text)) {
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

  // A number, a complex one, or a struct of numbers of one kind.
  std::optional<ElementType> element_of(const std::string& text) {
    if (const auto number = number_of(text)) {
      return ElementType{text, number->dtype, number->is_unsigned, 1};
    }
    if (const auto inner = argument_of(text, "std::complex")) {
      const auto number = number_of(*inner);
      return number ? std::optional(ElementType{text, number->dtype, false, 2}) : std::nullopt;
    }
    const auto fields = lookup_ ? lookup_(text) : std::nullopt;
    if (!fields || fields->empty()) {
      return {};
    }
    std::optional<ElementType> element;
    for (const auto& [name, type] : *fields) {
      const auto number = number_of(trimmed(type));
      if (!number || (element && element->dtype != number->dtype)) {
        return {};
      }
      const int lanes = element ? element->lanes + 1 : 1;
      element = ElementType{text, number->dtype, number->is_unsigned, lanes};
    }
    return element;
  }

  void read_record(const std::string& text, OwnType& type, int depth) {
    const auto fields = lookup_ ? lookup_(text) : std::nullopt;
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
};

}  // namespace

OwnType parse_own_type(const std::string& text, const RecordLookup& lookup) {
  return TypeReader(lookup).read(text);
}

}  // namespace kernelpro
