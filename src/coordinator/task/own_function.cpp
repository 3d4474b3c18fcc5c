#include "coordinator/task/own_function.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "common/base/process.hpp"
#include "coordinator/task/clang_tree.hpp"
#include "coordinator/task/create.hpp"
#include "coordinator/task/cuda_source.hpp"
#include "coordinator/task/function_name.hpp"
#include "coordinator/task/inline_includes.hpp"
#include "coordinator/task/own_names.hpp"
#include "coordinator/task/own_uses.hpp"
#include "coordinator/task/record_fields.hpp"

namespace kernelpro {
namespace {

using namespace tree;
using Json = nlohmann::json;
using Kind = OwnType::Kind;

std::string unit_of(const OwnSource& source) {
  std::error_code ignored;
  // C's keyword, which C++ compilers know by another name.
  return (source.file.extension() == ".c" ? "#define restrict __restrict__\n" : "") +
         fmt::format("#include \"{}\"\n", std::filesystem::absolute(source.file, ignored).string());
}

// "stats" of "stats::count".
std::string scope_of(const std::string& name) {
  const std::string whole = name.substr(0, name.find('<'));
  const std::size_t last = whole.rfind("::");
  return last == std::string::npos ? "" : whole.substr(0, last);
}

class FunctionReader {
 public:
  FunctionReader(const OwnSource& source, std::stop_token stop)
      : source_(source),
        stop_(std::move(stop)),
        unit_(unit_of(source)),
        names_(unit_, source.flags, stop_) {}

  Result<OwnFunction> read() {
    const std::string name = plain_name(source_.function);
    std::string unit = unit_;
    if (source_.function.find('<') != std::string::npos) {
      unit += fmt::format("namespace {{ [[maybe_unused]] const auto kp_pick = &{}; }}\n",
                          source_.function);
    }
    const std::string asked = source_.function.substr(0, source_.function.find('<'));
    const auto found = clang_declarations(unit, asked, source_.flags, stop_);
    if (!found.ok() && found.error().kind == ErrorKind::bad_input) {
      return refuse(found.error().message + "\nName its headers, its macros or its build" +
                    source_.example({"-I include", "-D N=64",
                                     "--compile-commands build/compile_commands.json"}));
    }
    KP_LET(const auto trees, found);
    for (const Json& tree : trees) {
      look_at(tree, name);
    }
    keep_exact(asked);
    KP_TRY(check_found());
    return describe(*found_[0]);
  }

 private:
  [[nodiscard]] Error refuse(const std::string& why, int line = 0) const {
    return make_error(
        ErrorKind::bad_input, why,
        line > 0 ? fmt::format("{}:{}", source_.file.string(), line) : source_.file.string());
  }

  void look_at(const Json& tree, const std::string& name) {
    const bool same = text_of(tree, "name") == name;
    if (is_function(tree) && same && text_of(tree, "storageClass") == "static") {
      static_.insert(text_of(tree, "mangledName"));
    }
    if (is_function(tree) && same && has_body(tree)) {
      found_.push_back(&trees_.emplace_back(tree));
    } else if (text_of(tree, "kind") == "FunctionTemplateDecl" && same) {
      is_template_ = true;
      for (const Json& child : inner(tree)) {
        if (is_function(child) && has_body(child) && !text_of(child, "mangledName").empty()) {
          Json instance = child;
          instance["loc"] = tree.value("loc", Json::object());
          found_.push_back(&trees_.emplace_back(std::move(instance)));
        }
      }
    }
  }

  // Members of other classes may have the name too, and other instances of the template.
  void keep_exact(const std::string& asked) {
    keep_if(
        [&asked](const std::string& whole) { return whole.substr(0, whole.find('<')) == asked; });
    keep_if([this](const std::string& whole) {
      return without_spaces(whole) == without_spaces(source_.function);
    });
  }

  // Those whose whole name is wanted, if there are any.
  void keep_if(const std::function<bool(const std::string&)>& is_wanted) {
    const auto is_other = [&is_wanted](const Json* one) {
      return !is_wanted(take_apart_name(text_of(*one, "mangledName")).name);
    };
    if (!std::ranges::all_of(found_, is_other)) {
      std::erase_if(found_, is_other);
    }
  }

  [[nodiscard]] Status check_found() const {
    if (found_.size() == 1) {
      return {};
    }
    if (found_.empty() && is_template_) {
      return refuse(
          fmt::format("{0} is a template; name the instance that you use, such as "
                      "{1}:{0}<float>",
                      source_.function, source_.file.filename().string()));
    }
    if (found_.empty()) {
      return refuse(fmt::format(
          "the function {} is not defined here; name the file with its body, and a member or a "
          "namespace as CLASS::{}",
          source_.function, plain_name(source_.function)));
    }
    std::vector<int> lines;
    lines.reserve(found_.size());
    for (const Json* one : found_) {
      lines.push_back(line_of(*one));
    }
    return refuse(
        fmt::format("{} is defined {} times (lines {}); name one with its namespace or "
                    "class, or give the one meant a name of its own",
                    source_.function, found_.size(), fmt::join(lines, ", ")));
  }

  static int line_of(const Json& node) {
    const auto place = node.find("loc");
    if (place == node.end()) {
      return 0;
    }
    if (const auto expansion = place->find("expansionLoc"); expansion != place->end()) {
      return expansion->value("line", 0);
    }
    return place->value("line", 0);
  }

  Result<OwnFunction> describe(const Json& node) {
    OwnFunction out;
    out.line = line_of(node);
    const OwnUses uses = uses_of(node);
    KP_TRY(check_uses(uses, source_.function, out.line));
    KP_TRY(check_called(uses.called));
    out.accumulates = uses.accumulates;
    const Demangled whole = take_apart_name(text_of(node, "mangledName"));
    out.name = whole.name;
    KP_TRY(name_call(node, out));
    KP_TRY(read_parameters(node, whole, out));
    const std::string signature = node.at("type").value("qualType", "");
    const std::string written = signature.substr(0, signature.find(" ("));
    out.returns = type_of(names_.resolved(resolved(written, node), scope_of(out.name)));
    std::vector<std::string> shown;
    shown.reserve(out.parameters.size());
    for (const OwnParameter& one : out.parameters) {
      shown.push_back(one.type.text + " " + one.name);
    }
    out.heading = fmt::format("{} {}({})", written, out.name, fmt::join(shown, ", "));
    const Kind returned = out.returns.kind;
    if (returned == Kind::unknown || returned == Kind::view || out.returns.by_pointer ||
        (returned == Kind::tensor && out.returns.element.lanes == 1)) {
      return refuse(fmt::format("{} returns `{}`; expected nothing, a number, a std::vector or a "
                                "struct of numbers: let it write its result through a parameter",
                                source_.function, written),
                    out.line);
    }
    return out;
  }

  [[nodiscard]] Status check_uses(const OwnUses& uses, const std::string& who, int line) const {
    if (!uses.outside.empty()) {
      return refuse(fmt::format("{} uses {}, and a judge must be able to call it alone; pass what "
                                "it reads as a parameter",
                                who, uses.outside),
                    line);
    }
    if (!uses.global.empty()) {
      return refuse(fmt::format("{} uses the variable {}, which others can change between calls; "
                                "pass it as a parameter",
                                who, uses.global),
                    line);
    }
    return {};
  }

  // The same of what it calls, as far as that is defined in the file and its own headers.
  [[nodiscard]] Status check_called(std::set<std::string> names) const {
    const auto text = inline_marked(source_.file, include_folders(source_.flags), {});
    std::set<std::string> defined;
    for (const CudaFunction& one : take_cuda_apart(text.ok() ? *text : "").functions) {
      defined.insert(plain_name(one.name));
    }
    std::set<std::string> seen = {plain_name(source_.function)};
    while (!names.empty()) {
      const std::string name = names.extract(names.begin()).value();
      if (!defined.contains(name) || !seen.insert(name).second) {
        continue;
      }
      const auto trees = clang_declarations(unit_, name, source_.flags, stop_);
      for (const Json& tree : trees.ok() ? *trees : std::vector<Json>()) {
        if (!is_function(tree) || text_of(tree, "name") != name || !has_body(tree) ||
            take_apart_name(text_of(tree, "mangledName")).name.starts_with("std::")) {
          continue;
        }
        const OwnUses uses = uses_of(tree);
        KP_TRY(check_uses(uses, fmt::format("{} calls {}, which", source_.function, name),
                          line_of(tree)));
        names.insert(uses.called.begin(), uses.called.end());
      }
    }
    return {};
  }

  Status name_call(const Json& node, OwnFunction& out) {
    out.call = source_.function.find('<') == std::string::npos ? out.name : source_.function;
    const bool member = text_of(node, "kind") == "CXXMethodDecl";
    // A body outside of the class does not say it again.
    if (!member || text_of(node, "storageClass") == "static" ||
        static_.contains(text_of(node, "mangledName"))) {
      return {};
    }
    const std::string type = out.name.substr(0, out.name.rfind("::"));
    KP_LET(const auto trees,
           clang_declarations(unit_, type.substr(0, type.find('<')), source_.flags, stop_));
    const auto state = state_fields(trees, type);
    if (!state || !state->empty()) {
      const std::string names = state ? fmt::format(" ({})", fmt::join(*state, ", ")) : "";
      return refuse(fmt::format("{} belongs to objects with a state of their own{}; write a "
                                "function that takes the state as parameters and calls it",
                                source_.function, names),
                    out.line);
    }
    out.call = type + "()." + plain_name(source_.function);
    return {};
  }

  Status read_parameters(const Json& node, const Demangled& whole, OwnFunction& out) {
    std::size_t at = 0;
    for (const Json& child : inner(node)) {
      if (text_of(child, "kind") != "ParmVarDecl") {
        continue;
      }
      const std::string written = type_text(child);
      // A mangled name has the types; that of a function with C's linkage has none.
      const std::string text =
          at < whole.types.size() ? whole.types[at] : names_.resolved(written, scope_of(out.name));
      OwnParameter parameter{text_of(child, "name"),
                             type_of(text, is_array(node, text_of(child, "id")))};
      parameter.type.text = text_of(child.at("type"), "qualType");
      if (parameter.name.empty()) {
        parameter.name = fmt::format("p{}", at + 1);
      }
      if (parameter.type.kind == Kind::unknown || parameter.type.kind == Kind::nothing) {
        return refuse(
            fmt::format(
                "parameter {} of {} has the type `{}`, which no task can pass; supported "
                "are numbers, pointers and references to numbers, std::complex and structs "
                "of numbers, std::array, std::vector and std::span of these, and plain "
                "structs of such fields. Write a function with such parameters that calls this one",
                parameter.name, source_.function, parameter.type.text),
            out.line);
      }
      out.parameters.push_back(std::move(parameter));
      ++at;
    }
    return {};
  }

  // A returned type behind a name of its own.
  static std::string resolved(const std::string& written, const Json& node) {
    std::string text = written;
    const std::string plain = node.at("type").value("desugaredQualType", "");
    if (!plain.empty()) {
      text = plain.substr(0, plain.find(" ("));
    }
    return text;
  }

  OwnType type_of(const std::string& text, bool many = false) {
    return parse_own_type(
        text, [this](const std::string& name) { return names_.record(name); }, many,
        [this](const std::string& name) { return names_.enumeration(name); });
  }

  const OwnSource& source_;
  std::stop_token stop_;
  std::string unit_;
  std::vector<const Json*> found_;
  std::list<Json> trees_;
  std::set<std::string> static_;  // by mangled name
  bool is_template_ = false;
  OwnNames names_;
};

}  // namespace

std::string OwnSource::example(const std::vector<std::string>& more) const {
  std::string text = ", for example:";
  for (const std::string& flag : more) {
    text += fmt::format("\n  {} {}",
                        command.empty()
                            ? fmt::format("kernelpro optimize {}:{}", file.string(), function)
                            : command,
                        flag);
  }
  return text;
}

bool can_read_functions() {
  return find_program(clang_program).has_value();
}

Result<OwnFunction> read_own_function(const OwnSource& source, std::stop_token stop) {
  if (!can_read_functions()) {
    return make_error(ErrorKind::environment,
                      fmt::format("{} is needed to read functions; install clang-19, or write the "
                                  "task with `kernelpro task new`",
                                  clang_program));
  }
  return FunctionReader(source, std::move(stop)).read();
}

}  // namespace kernelpro
