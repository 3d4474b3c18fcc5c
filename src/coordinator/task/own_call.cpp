#include "coordinator/task/own_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "coordinator/task/struct_array.hpp"

namespace kernelpro {
namespace {

using Kind = OwnType::Kind;

// "const float*", "float (*)[64]".
std::string pointer_text(const ElementType& element, bool constant) {
  const std::string prefix = constant ? "const " : "";
  const std::size_t array = element.text.find('[');
  return array == std::string::npos
             ? prefix + element.text + "*"
             : prefix + element.text.substr(0, array) + " (*)" + element.text.substr(array);
}

class CallPlanner {
 public:
  explicit CallPlanner(const OwnFunction& function) : function_(function) {}

  OwnCall plan() {
    std::vector<std::string> arguments;
    bool plain = function_.returns.kind == Kind::nothing && function_.call == function_.name;
    for (const OwnParameter& parameter : function_.parameters) {
      arguments.push_back(argument(parameter, {}));
      const Kind kind = parameter.type.kind;
      plain = plain && !parameter.type.reference && kind != Kind::flag &&
              parameter.type.element.enumerators.empty() &&
              (kind == Kind::whole || kind == Kind::real ||
               (kind == Kind::tensor && parameter.type.parts.empty() &&
                parameter.type.element.lanes == 1 && !parameter.type.element.is_unsigned));
    }
    out_.plain = plain;
    finish(fmt::format("{}({})", function_.call, fmt::join(arguments, ", ")));
    return std::move(out_);
  }

 private:
  // Where a value stands in the user's types: the struct, its field and the path to it in C++.
  struct Place {
    std::string record;
    std::string field;
    std::string path;  // empty: a parameter of its own
    bool constant = false;
  };

  std::string unique(std::string name) {
    while (!names_.insert(name).second) {
      name += "_";
    }
    return name;
  }

  std::size_t add(Leaf leaf, const Place& place) {
    leaf.record = place.record;
    leaf.field = place.field;
    if (leaf.element.record && checked_.insert(leaf.element.text).second) {
      const std::size_t bytes =
          static_cast<std::size_t>(leaf.element.lanes) * size_of(leaf.element.dtype);
      say(fmt::format(
          "static_assert(sizeof({0}) == {1}, \"{0} has padding, and a task's tensor has "
          "only its numbers; give it a field in that place\");",
          leaf.element.text, bytes));
    }
    out_.leaves.push_back(std::move(leaf));
    return out_.leaves.size() - 1;
  }

  void say(const std::string& text) {
    out_.before += "  " + text + "\n";
    out_.probe_before += "  " + text + "\n";
  }

  // Adds the leaves of a parameter; what to pass for it.
  std::string argument(const OwnParameter& parameter, const Place& place) {
    const OwnType& type = parameter.type;
    if (!type.parts.empty()) {
      return structs(parameter, place);
    }
    switch (type.kind) {
      case Kind::whole:
      case Kind::flag:
      case Kind::real:
        return number(parameter, place);
      case Kind::tensor:
        return tensor(parameter, place);
      case Kind::list:
      case Kind::view:
        return container(parameter, place);
      case Kind::fixed:
        return fixed(parameter, place);
      default:
        return record(parameter, place);
    }
  }

  std::string number(const OwnParameter& parameter, const Place& place) {
    const OwnType& type = parameter.type;
    Leaf leaf;
    leaf.name = unique(parameter.name);
    leaf.kind = type.kind == Kind::real ? Leaf::Kind::scalar : Leaf::Kind::axis;
    leaf.element = type.element;
    leaf.choices = type.element.enumerators;
    const bool flag = type.kind == Kind::flag;
    if (flag) {
      leaf.choices = {{"true", 1}, {"false", 0}};
    }
    const std::string cast = flag ? "bool" : type.element.text;
    const std::string text = fmt::format("static_cast<{}>({})", cast, leaf.name);
    add(std::move(leaf), place);
    return text;
  }

  std::string tensor(const OwnParameter& parameter, const Place& place) {
    const OwnType& type = parameter.type;
    Leaf leaf;
    leaf.kind = Leaf::Kind::tensor;
    leaf.name = unique(parameter.name);
    leaf.element = type.element;
    leaf.may_write = !type.constant;
    leaf.in_place = true;
    leaf.restricted = type.text.find("restrict") != std::string::npos;
    leaf.fixed_count = type.reference ? 1 : 0;
    const std::string name = leaf.name;
    const std::size_t index = add(std::move(leaf), place);
    out_.probe_before +=
        fmt::format("  KP_TENSOR({}, {}, sizeof({}));\n", index, name, type.element.text);
    const std::string cast = fmt::format("({}){}", pointer_text(type.element, type.constant), name);
    return type.reference ? "*" + cast : cast;
  }

  // Lists are filled before the call, and emptied into the tensor behind it.
  std::string container(const OwnParameter& parameter, const Place& place) {
    const OwnType& type = parameter.type;
    Leaf leaf;
    leaf.kind = Leaf::Kind::tensor;
    leaf.name = unique(parameter.name);
    leaf.element = type.element;
    leaf.may_write = !type.constant && !place.constant;
    leaf.in_place = type.kind == Kind::view;
    const std::string name = leaf.name;
    const std::string& of = type.element.text;
    const bool written = leaf.may_write;
    const std::size_t index = add(std::move(leaf), place);
    Leaf size;
    size.name = unique(name + "_size");
    size.size_of = name;
    const std::string count = size.name;
    add(std::move(size), place);
    if (type.kind == Kind::view) {
      out_.probe_before += fmt::format("  KP_TENSOR({}, {}, sizeof({}));\n", index, name, of);
      const std::string view =
          fmt::format("{}(({}){}, static_cast<std::size_t>({}))", type.container,
                      pointer_text(type.element, type.constant), name, count);
      return stored(place, view);
    }
    const std::string list = place.path.empty() ? "kp_" + name : place.path;
    if (place.path.empty()) {
      say(fmt::format("static {} {};", type.container, list));
    }
    out_.probe_before += fmt::format("  {}.reserve(KP_CAPACITY);\n", list);
    say(fmt::format("{0}.assign(({1}){2}, ({1}){2} + {3});", list, pointer_text(type.element, true),
                    name, count));
    out_.probe_before += fmt::format("  KP_LIST({}, {}.data(), sizeof({}));\n", index, list, of);
    if (written) {
      take_out(index, list, name, count, type.element);
    }
    return list;
  }

  void take_out(std::size_t index, const std::string& list, const std::string& name,
                const std::string& count, const ElementType& element) {
    out_.after += same_size(list, count);
    out_.after += fmt::format(
        "  for (std::size_t kp_i = 0; kp_i < {0}.size(); ++kp_i) {{\n"
        "    (({2}){3})[kp_i] = {0}[kp_i];\n  }}\n",
        list, count, pointer_text(element, false), name);
    out_.probe_after += fmt::format(
        "  KP_SIZE({0}, {1}.size());\n  KP_OUT({2}, {1}.data(), {1}.size() * sizeof({3}));\n",
        index, list, name, element.text);
  }

  // An array of structs of several kinds of numbers: a tensor for each of these, and the structs
  // are put together before the call and taken apart behind it.
  std::string structs(const OwnParameter& parameter, const Place& place) {
    const OwnType& type = parameter.type;
    const bool is_list = type.kind == Kind::list;
    std::string array = is_list && !place.path.empty() ? place.path : "kp_" + parameter.name;
    const std::string data = array + (is_list ? ".data()" : "");
    std::string fill;
    std::string take;
    std::string watch;
    std::string first;
    const std::size_t first_index = out_.leaves.size();
    // On trial there are as many as the tensors are filled for, whatever the size.
    const std::string room =
        fmt::format("KP_FILLED({}, {})", first_index, type.parts[0].element.lanes);
    for (const RecordPart& part : type.parts) {
      Leaf leaf;
      leaf.kind = Leaf::Kind::tensor;
      leaf.name = unique(parameter.name + part_name(part));
      leaf.element = part.element;
      leaf.may_write = !type.constant && !place.constant;
      leaf.together = array;
      const std::string name = leaf.name;
      const std::size_t bytes =
          static_cast<std::size_t>(part.element.lanes) * size_of(part.element.dtype);
      const bool written = leaf.may_write;
      const std::size_t index = add(std::move(leaf), place);
      first = first.empty() ? name : first;
      const std::string one = fmt::format("(void*)&{}[kp_i]{}", data, part.path);
      const std::string of_tensor = fmt::format("(char*){} + kp_i * {}", name, bytes);
      fill += fmt::format("    __builtin_memcpy({}, {}, {});\n", one, of_tensor, bytes);
      // A part that stays as it was is no output, and its tensor may only be read.
      take += written ? fmt::format(
                            "    if (__builtin_memcmp({0}, {1}, {2}) != 0) {{\n"
                            "      __builtin_memcpy({0}, {1}, {2});\n    }}\n",
                            of_tensor, one, bytes)
                      : "";
      watch += fmt::format("  KP_PART({0}, {1}, &{1}[0]{2}, {3}, {4});\n", index, data, part.path,
                           bytes, room);
    }
    Leaf size;
    size.name = unique(parameter.name + "_size");
    size.size_of = first;
    const std::string count = size.name;
    add(std::move(size), place);
    out_.before +=
        struct_array(type, array, count, count, place.path.empty()) + each_struct(count, fill);
    out_.probe_before += struct_array(type, array, room, count, place.path.empty()) +
                         each_struct(is_list ? count : room, fill) + watch;
    if (!take.empty()) {
      out_.after += is_list ? same_size(array, count) : "";
      out_.after += each_struct(count, take);
      out_.probe_after +=
          is_list ? fmt::format("  KP_SIZE({}, {}.size());\n", first_index, array) : "";
      out_.probe_after += each_struct(is_list ? count : room, take);
    }
    if (is_list) {
      return array;
    }
    return type.kind == Kind::view
               ? stored(place, fmt::format("{}({}, static_cast<std::size_t>({}))", type.container,
                                           array, count))
               : array;
  }

  // An array inside of a struct.
  std::string fixed(const OwnParameter& parameter, const Place& place) {
    const OwnType& type = parameter.type;
    Leaf leaf;
    leaf.kind = Leaf::Kind::tensor;
    leaf.name = unique(parameter.name);
    leaf.element = type.element;
    leaf.fixed_count = type.count;
    const std::string name = leaf.name;
    add(std::move(leaf), place);
    say(fmt::format("for (int kp_i = 0; kp_i < {}; ++kp_i) {{ (({})&{})[kp_i] = (({}){})[kp_i]; }}",
                    type.count, pointer_text(type.element, false), place.path,
                    pointer_text(type.element, true), name));
    return "";
  }

  std::string stored(const Place& place, const std::string& value) {
    if (place.path.empty()) {
      return value;
    }
    say(fmt::format("{} = {};", place.path, value));
    return "";
  }

  // "const int", "float* const": a value that is given once, where the object begins.
  static bool is_given_once(const OwnField& field) {
    const std::string& text = field.type.text;
    return is_plain(field.type.kind) &&
           (text.ends_with("const") ||
            (text.find('*') == std::string::npos && text.starts_with("const ")));
  }

  static bool is_plain(Kind kind) {
    return kind == Kind::whole || kind == Kind::flag || kind == Kind::real || kind == Kind::tensor;
  }

  // Has a field that cannot be assigned, and no other fields than such values.
  static bool begins_whole(const OwnType& type) {
    return std::ranges::any_of(type.fields, is_given_once) &&
           std::ranges::all_of(type.fields, [](const OwnField& field) {
             return is_plain(field.type.kind) && field.type.parts.empty();
           });
  }

  std::string whole_record(const OwnParameter& parameter, const std::string& object) {
    const OwnType& type = parameter.type;
    std::vector<std::string> values;
    for (const OwnField& field : type.fields) {
      const Place inside{type.record, field.name, object + "." + field.name,
                         type.constant && (type.reference || type.by_pointer)};
      values.push_back(argument({parameter.name + "_" + field.name, field.type}, inside));
    }
    say(
        fmt::format("static_assert(__is_aggregate({0}), \"{0} has constant fields and "
                    "constructors, and its fields alone do not say how it is made\");",
                    type.record));
    const std::string begun = fmt::format("{}{{{}}}", type.record, fmt::join(values, ", "));
    out_.before += fmt::format("  {} {} = {};\n", type.record, object, begun);
    out_.probe_before += type.by_pointer
                             ? fmt::format("  {0}& {1} = *new (kp_edge(sizeof({0}))) {2};\n",
                                           type.record, object, begun)
                             : fmt::format("  {} {} = {};\n", type.record, object, begun);
    return type.by_pointer ? "&" + object : object;
  }

  std::string record(const OwnParameter& parameter, const Place& place) {
    const OwnType& type = parameter.type;
    const std::string object = place.path.empty() ? "kp_" + parameter.name : place.path;
    if (place.path.empty() && begins_whole(type)) {
      return whole_record(parameter, object);
    }
    if (place.path.empty() && type.by_pointer) {
      // On trial no memory lies behind it: a function that takes it for an array ends there.
      out_.before += fmt::format("  static {} {}{{}};\n", type.record, object);
      out_.probe_before += fmt::format("  static {0}& {1} = *new (kp_edge(sizeof({0}))) {0}{{}};\n",
                                       type.record, object);
    } else if (place.path.empty()) {
      say(fmt::format("static {} {}{{}};", type.record, object));
    }
    for (const OwnField& field : type.fields) {
      const Place inside{type.record, field.name, object + "." + field.name,
                         type.constant && (type.reference || type.by_pointer)};
      const OwnParameter part{parameter.name + "_" + field.name, field.type};
      const std::string value = argument(part, inside);
      if (is_plain(field.type.kind)) {
        say(fmt::format("{} = {};", inside.path, value));
      }
    }
    return type.by_pointer ? "&" + object : object;
  }

  // The statement with the call, and what becomes of what it returns.
  void finish(const std::string& call) {
    const OwnType& returns = function_.returns;
    if (returns.kind == Kind::nothing) {
      out_.call = "  " + call + ";\n";
      return;
    }
    Leaf leaf;
    leaf.kind = Leaf::Kind::tensor;
    leaf.name = unique(names_.contains("result") ? "returned" : "result");
    leaf.element = returns.element;
    leaf.returned = true;
    leaf.may_write = true;
    leaf.fixed_count = returns.kind == Kind::list ? 0 : 1;
    if (returns.kind == Kind::flag) {
      leaf.element = {"unsigned char", DType::u8, false, 1};
    }
    const ElementType element = leaf.element;
    const std::string name = leaf.name;
    const std::size_t index = add(std::move(leaf), {});
    if (returns.kind != Kind::list) {
      out_.call = fmt::format("  *({}){} = {};\n", pointer_text(element, false), name, call);
      out_.probe_after += fmt::format("  KP_SIZE({}, 1);\n", index);
      return;
    }
    Leaf size;
    size.name = unique(name + "_size");
    size.size_of = name;
    const std::string count = size.name;
    add(std::move(size), {});
    out_.call = fmt::format("  const auto kp_{} = {};\n", name, call);
    take_out(index, "kp_" + name, name, count, element);
  }

  const OwnFunction& function_;
  OwnCall out_;
  std::set<std::string> names_;
  std::set<std::string> checked_;  // structs whose size is asserted
};

}  // namespace

OwnCall plan_call(const OwnFunction& function) {
  return CallPlanner(function).plan();
}

}  // namespace kernelpro
