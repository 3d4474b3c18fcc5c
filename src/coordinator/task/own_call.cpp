#include "coordinator/task/own_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

namespace kernelpro {
namespace {

using Kind = OwnType::Kind;

// As a signature spells a tensor's numbers.
std::string number_text(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return "double";
    case DType::i64:
      return "long";
    case DType::i32:
      return "int";
    case DType::i16:
      return "short";
    case DType::i8:
      return "signed char";
    case DType::u8:
      return "unsigned char";
    default:
      return "float";
  }
}

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
              (kind == Kind::whole || kind == Kind::real ||
               (kind == Kind::tensor && parameter.type.element.lanes == 1 &&
                !parameter.type.element.is_unsigned));
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
    leaf.flag = type.kind == Kind::flag;
    leaf.element = type.element;
    const std::string cast = leaf.flag ? "bool" : type.element.text;
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
      const std::string view = fmt::format("std::span<{}{}>(({}){}, static_cast<std::size_t>({}))",
                                           type.constant ? "const " : "", of,
                                           pointer_text(type.element, type.constant), name, count);
      return stored(place, view);
    }
    const std::string list = place.path.empty() ? "kp_" + name : place.path;
    if (place.path.empty()) {
      say(fmt::format("static std::vector<{}> {};", of, list));
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
    out_.after += fmt::format(
        "  if ({0}.size() != static_cast<std::size_t>({1})) {{\n    return 1;\n  }}\n"
        "  for (std::size_t kp_i = 0; kp_i < {0}.size(); ++kp_i) {{\n"
        "    (({2}){3})[kp_i] = {0}[kp_i];\n  }}\n",
        list, count, pointer_text(element, false), name);
    out_.probe_after += fmt::format(
        "  KP_SIZE({0}, {1}.size());\n  KP_OUT({2}, {1}.data(), {1}.size() * sizeof({3}));\n",
        index, list, name, element.text);
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
    say(fmt::format("for (int kp_i = 0; kp_i < {}; ++kp_i) {{ {}[kp_i] = (({}){})[kp_i]; }}",
                    type.count, place.path, pointer_text(type.element, true), name));
    return "";
  }

  std::string stored(const Place& place, const std::string& value) {
    if (place.path.empty()) {
      return value;
    }
    say(fmt::format("{} = {};", place.path, value));
    return "";
  }

  std::string record(const OwnParameter& parameter, const Place& place) {
    const OwnType& type = parameter.type;
    const std::string object = place.path.empty() ? "kp_" + parameter.name : place.path;
    if (place.path.empty()) {
      say(fmt::format("static {} {}{{}};", type.record, object));
    }
    for (const OwnField& field : type.fields) {
      const Place inside{type.record, field.name, object + "." + field.name,
                         type.constant && (type.reference || type.by_pointer)};
      const OwnParameter part{parameter.name + "_" + field.name, field.type};
      const std::string value = argument(part, inside);
      const Kind kind = field.type.kind;
      if (kind == Kind::whole || kind == Kind::flag || kind == Kind::real || kind == Kind::tensor) {
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
};

}  // namespace

OwnCall plan_call(const OwnFunction& function) {
  return CallPlanner(function).plan();
}

std::string bridge_declaration(const OwnCall& call, const std::vector<std::string>& only_read) {
  std::vector<std::string> parameters;
  for (const Leaf& leaf : call.leaves) {
    if (leaf.kind == Leaf::Kind::axis) {
      parameters.push_back("long " + leaf.name);
    } else if (leaf.kind == Leaf::Kind::scalar) {
      parameters.push_back(number_text(leaf.element.dtype) + " " + leaf.name);
    } else {
      const bool constant = std::ranges::find(only_read, leaf.name) != only_read.end();
      parameters.push_back(fmt::format("{}{}* {}", constant ? "const " : "",
                                       number_text(leaf.element.dtype), leaf.name));
    }
  }
  return fmt::format("int {}({})", bridge_name, fmt::join(parameters, ", "));
}

std::string bridge_text(const OwnCall& call, const std::vector<std::string>& only_read) {
  return fmt::format("static {} {{\n{}{}{}  return 0;\n}}\n\n", bridge_declaration(call, only_read),
                     call.before, call.call, call.after);
}

}  // namespace kernelpro
