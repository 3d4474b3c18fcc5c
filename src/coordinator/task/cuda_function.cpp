#include "coordinator/task/cuda_function.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "coordinator/task/clang_tree.hpp"
#include "coordinator/task/function_name.hpp"
#include "coordinator/task/inline_includes.hpp"
#include "coordinator/task/own_call.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using Parameter = CudaLauncher::Parameter;

bool names_function(const CudaFunction& one, const std::string& wanted) {
  return one.name == wanted || one.name.ends_with("::" + wanted);
}

Error refuse_cuda(const OwnSource& source, int line, const std::string& why) {
  return make_error(
      ErrorKind::bad_input, why,
      line > 0 ? fmt::format("{}:{}", source.file.string(), line) : source.file.string());
}

bool is_pointer_type(const std::string& type) {
  return type.find('*') != std::string::npos;
}

bool is_stream(const std::string& type) {
  return type == "cudaStream_t";
}

// In the user's file, which has its headers not within.
int line_in_file(const OwnSource& source, const CudaFunction& function) {
  const auto text = read_file(source.file);
  const CudaParts parts = take_cuda_apart(text.ok() ? *text : "");
  const auto found = std::ranges::find(parts.functions, function.name, &CudaFunction::name);
  return found == parts.functions.end() ? 0 : found->line;
}

// What a function that launches the kernel would look like.
std::string launcher_text(const CudaFunction& kernel) {
  std::vector<std::string> parameters;
  std::string size;
  for (std::size_t i = 0; i < kernel.names.size(); ++i) {
    parameters.push_back(kernel.types[i] + " " + kernel.names[i]);
    const bool whole = kernel.types[i].find("int") != std::string::npos ||
                       kernel.types[i].find("size_t") != std::string::npos;
    if (size.empty() && whole && !is_pointer_type(kernel.types[i])) {
      size = kernel.names[i];
    }
  }
  return fmt::format(
      "  void launch_{0}({1}, cudaStream_t stream) {{\n"
      "    {2}<<<({3} + 255) / 256, 256, 0, stream>>>({4});\n  }}",
      plain_name(kernel.name), fmt::join(parameters, ", "), kernel.name, size.empty() ? "n" : size,
      fmt::join(kernel.names, ", "));
}

Result<const CudaFunction*> find_launcher(const OwnSource& source, const CudaParts& parts) {
  const std::string wanted = source.function.substr(0, source.function.find('<'));
  std::vector<std::string> others;
  const CudaFunction* found = nullptr;
  for (const CudaFunction& one : parts.functions) {
    if (names_function(one, wanted)) {
      found = found == nullptr || one.is_kernel ? &one : found;
    } else if (!one.is_kernel && !one.is_plain && plain_name(one.name) != "main") {
      others.push_back(one.name);
    }
  }
  if (found == nullptr) {
    return refuse_cuda(source, 0,
                       fmt::format("the function {} is not defined here; {}", source.function,
                                   others.empty() ? "nothing in this file launches a kernel"
                                                  : fmt::format("those that use CUDA are {}",
                                                                fmt::join(others, ", "))));
  }
  if (found->is_kernel) {
    return refuse_cuda(
        source, line_in_file(source, *found),
        fmt::format("{} is a kernel, and what is judged is a function of the host that launches "
                    "it, with a grid of your choice, such as\n{}",
                    source.function, launcher_text(*found)));
  }
  return found;
}

// " CUstream_st*" as people write it.
std::string resolved_type(const std::string& demangled) {
  const std::string type =
      demangled.substr(std::min(demangled.find_first_not_of(' '), demangled.size()));
  return type == "CUstream_st*" ? "cudaStream_t" : type;
}

// What nvcc knows without a header and other compilers do not. Headers of code for the device alone
// are passed over: bodies that use them are not read.
constexpr const char* cuda_words =
    "#include <cuda_runtime.h>\n#define __launch_bounds__(...)\n#define __cluster_dims__(...)\n"
    "#define __grid_constant__\n"
    "#define _COOPERATIVE_GROUPS_REDUCE_H\n#define _COOPERATIVE_GROUPS_SCAN_H\n#define "
    "_COOPERATIVE_GROUPS_MEMCPY_ASYNC\n"
    "namespace cooperative_groups {\n"
    "class thread_group;\nclass thread_block;\nclass grid_group;\nclass cluster_group;\n"
    "class coalesced_group;\ntemplate <unsigned, class = void>\nclass thread_block_tile;\n}\n";

// The declaration with a body among what clang found; an instance where a template was named.
std::optional<nlohmann::json> find_tree(const std::vector<nlohmann::json>& trees,
                                        const std::string& name) {
  for (const nlohmann::json& one : trees) {
    if (tree::text_of(one, "name") != name) {
      continue;
    }
    if (tree::is_function(one) && tree::has_body(one)) {
      return one;
    }
    for (const nlohmann::json& child : tree::inner(one)) {
      if (tree::is_function(child) && !tree::text_of(child, "mangledName").empty()) {
        return child;
      }
    }
  }
  return {};
}

// The parameters that a C++ function of the same purpose has.
std::vector<Parameter> judged_parameters(const CudaLauncher& launcher, const NewTask& request) {
  std::vector<Parameter> out;
  for (const Parameter& one : launcher.parameters) {
    const bool scratch =
        std::ranges::find(request.workspaces, one.name) != request.workspaces.end();
    if (!is_stream(one.type) && !request.fixed.contains(one.name) && !scratch) {
      out.push_back(one);
    }
  }
  return out;
}

std::string parameter_list(const std::vector<Parameter>& parameters) {
  std::vector<std::string> texts;
  texts.reserve(parameters.size());
  for (const Parameter& one : parameters) {
    texts.push_back(one.type + " " + one.name);
  }
  return fmt::format("({})", fmt::join(texts, ", "));
}

// Gives the function the launcher's names. False: its parameters are others.
bool take_names(OwnFunction& function, const std::vector<Parameter>& wanted) {
  if (function.parameters.size() != wanted.size()) {
    return false;
  }
  const bool same_names = std::ranges::all_of(function.parameters, [&](const OwnParameter& one) {
    return std::ranges::find(wanted, one.name, &Parameter::name) != wanted.end();
  });
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    OwnParameter& one = function.parameters[i];
    const auto known = std::ranges::find(wanted, one.name, &Parameter::name);
    const Parameter& meant = same_names ? *known : wanted[i];
    const bool tensor = one.type.kind == OwnType::Kind::tensor && !one.type.reference;
    const bool constant = meant.type.find("const") != std::string::npos;
    // Names tell what is meant; without them the types must.
    if (tensor != is_pointer_type(meant.type) || (!same_names && one.type.constant != constant)) {
      return false;
    }
    one.name = meant.name;
  }
  return true;
}

// What nvcc includes without being asked, as far as plain C++ has it.
constexpr const char* plain_headers =
    "#include <float.h>\n#include <math.h>\n#include <stdint.h>\n#include <stdlib.h>\n"
    "#include <string.h>\n";

// Where much was taken out.
std::string with_single_blank_lines(std::string text) {
  for (std::size_t at = text.find("\n\n\n"); at != std::string::npos;
       at = text.find("\n\n\n", at)) {
    text.erase(at, 1);
  }
  return text;
}

// Compilers name the lines of `from`.
Result<TrustedFunction> as_trusted(const OwnSource& source, const std::string& text,
                                   const std::string& function, const fs::path& from,
                                   std::stop_token stop) {
  KP_LET(ScratchDir scratch, ScratchDir::create("trusted"));
  const fs::path file = scratch.path() / "trusted.cpp";
  KP_TRY(write_file_unsynced(file, with_lines(text, from)));
  TrustedFunction trusted{
      {file, function, source.flags, source.command}, {}, with_single_blank_lines(text), nullptr};
  KP_LET(trusted.function, read_own_function(trusted.source, std::move(stop)));
  trusted.folder = std::make_shared<ScratchDir>(std::move(scratch));
  return trusted;
}

// The function and what it needs, as plain C++.
std::string plain_of(const CudaParts& parts, const std::string& function) {
  return plain_headers + needed_by(parts.plain, plain_name(function));
}

std::string ways_out(const OwnSource& source, const std::vector<Parameter>& wanted) {
  return fmt::format(
      "name a plain C++ function with the parameters {} or trust what it computes today{}",
      parameter_list(wanted),
      source.example({"--reference FILE.cpp:FUNCTION", "--reference original"}));
}

// A function of the file that would do if what it does not take were settled; with the flags that
// settle it. Empty: there is none.
std::string almost_trusted(const OwnSource& source, const CudaParts& parts,
                           const std::vector<Parameter>& wanted) {
  for (const CudaFunction& one : parts.functions) {
    const bool within = std::ranges::all_of(one.names, [&](const std::string& name) {
      return std::ranges::find(wanted, name, &Parameter::name) != wanted.end();
    });
    if (!one.is_plain || one.names.size() < 2 || !within || one.names.size() >= wanted.size()) {
      continue;
    }
    std::vector<std::string> missing;
    std::string flags;
    for (const Parameter& parameter : wanted) {
      if (std::ranges::find(one.names, parameter.name) == one.names.end()) {
        missing.push_back(parameter.name);
        flags += is_pointer_type(parameter.type)
                     ? fmt::format(" --workspace {0} --shape {0}=EXTENTS", parameter.name)
                     : fmt::format(" --fix {}=256", parameter.name);
      }
    }
    return fmt::format(
        "{} in the file may say what is right, but it takes no {}; say what is always passed, or "
        "that it is scratch memory{}",
        one.name, fmt::join(missing, ", "), source.example({flags.substr(1)}));
  }
  return "";
}

Result<TrustedFunction> named_trusted(const OwnSource& source, const NewTask& request,
                                      const std::vector<Parameter>& wanted, std::stop_token stop) {
  const std::size_t dot = std::min(request.reference.find('.'), request.reference.size());
  const std::size_t colon = std::min(request.reference.find(':', dot), request.reference.size());
  const fs::path file = request.reference.substr(0, colon);
  const std::string function = colon < request.reference.size()
                                   ? request.reference.substr(colon + 1)
                                   : plain_name(source.function);
  KP_LET(const std::string text, inline_marked(file, include_folders(source.flags), request.root));
  KP_LET(TrustedFunction trusted,
         as_trusted(source,
                    file.extension() == ".cu" ? plain_of(take_cuda_apart(text), function) : text,
                    function, file, std::move(stop)));
  if (!take_names(trusted.function, wanted)) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("`{}` has other parameters than {}", trusted.function.heading,
                                  parameter_list(wanted)),
                      "--reference " + request.reference);
  }
  return trusted;
}

}  // namespace

Result<CudaLauncher> read_cuda_launcher(const OwnSource& source, const CudaParts& parts,
                                        std::stop_token stop) {
  KP_LET(const CudaFunction* const found, find_launcher(source, parts));
  const std::string headers = cuda_headers();
  if (headers.empty()) {
    return make_error(ErrorKind::environment,
                      "the CUDA toolkit is needed to read it: nvcc is not on the PATH, nor "
                      "/usr/local/cuda",
                      source.file.string());
  }
  const int line = line_in_file(source, *found);
  std::string unit = cuda_words + with_lines(parts.declared, source.file) + "\n";
  if (source.function.find('<') != std::string::npos) {
    unit += fmt::format("namespace {{ const auto kp_pick = &{}; }}\n", source.function);
  }
  std::vector<std::string> flags = source.flags;
  const auto is_standard = [](const std::string& flag) { return flag.starts_with("-std="); };
  if (std::ranges::none_of(flags, is_standard)) {
    flags.emplace_back("-std=c++17");  // nvcc's own choice
  }
  flags.push_back("-I" + headers);
  flags.push_back("-I" + headers + "/cccl");  // where CUDA 13 has its C++ headers
  const auto trees = clang_declarations(unit, found->name, flags, std::move(stop));
  if (!trees.ok()) {
    return refuse_cuda(source, 0,
                       trees.error().message + "\nName its headers and macros" +
                           source.example({"-I include", "-D N=64"}));
  }
  const auto node = find_tree(*trees, plain_name(source.function));
  if (!node) {
    return refuse_cuda(source, line,
                       fmt::format("{0} is a template; name the instance that you use, such as "
                                   "{1}:{0}<float>",
                                   source.function, source.file.filename().string()));
  }
  CudaLauncher launcher;
  const bool instance = source.function.find('<') != std::string::npos;
  launcher.call = instance ? source.function : found->name;
  launcher.line = line;
  const std::string type = node->at("type").value("qualType", "");
  launcher.returns = type.substr(0, type.find(" ("));
  const Demangled whole = take_apart_name(tree::text_of(*node, "mangledName"));
  for (const nlohmann::json& child : tree::inner(*node)) {
    if (tree::text_of(child, "kind") == "ParmVarDecl") {
      const std::size_t at = launcher.parameters.size();
      launcher.parameters.push_back(
          {resolved_type(at < whole.types.size() ? whole.types[at] : tree::type_text(child)),
           tree::text_of(child, "name")});
    }
  }
  return launcher;
}

Result<TrustedFunction> find_trusted(const OwnSource& source, const CudaParts& parts,
                                     const CudaLauncher& launcher, const NewTask& request,
                                     std::stop_token stop) {
  const std::vector<Parameter> wanted = judged_parameters(launcher, request);
  if (!request.reference.empty()) {
    return named_trusted(source, request, wanted, std::move(stop));
  }
  std::vector<TrustedFunction> found;
  std::string broken;
  for (const CudaFunction& one : parts.functions) {
    if (!one.is_plain || one.names.size() != wanted.size()) {
      continue;
    }
    auto trusted = as_trusted(source, plain_of(parts, one.name), one.name, source.file, stop);
    if (!trusted.ok()) {
      broken = fmt::format("; {} cannot be: {}", one.name, trusted.error().text());
    } else if (take_names(trusted->function, wanted)) {
      found.push_back(*std::move(trusted));
    }
  }
  if (found.size() == 1) {
    return std::move(found[0]);
  }
  if (found.empty()) {
    const std::string almost = almost_trusted(source, parts, wanted);
    return refuse_cuda(source, launcher.line,
                       almost.empty() ? "nothing in the file says what is right; " +
                                            ways_out(source, wanted) + broken
                                      : almost);
  }
  std::vector<std::string> lines;
  lines.reserve(found.size());
  for (const TrustedFunction& one : found) {
    lines.push_back(fmt::format("--reference {}:{}", source.file.string(), one.source.function));
  }
  return refuse_cuda(
      source, launcher.line,
      "more than one function in the file may say what is right; name one" + source.example(lines));
}

OwnTask cuda_task(NewTask request, const CudaLauncher& launcher,
                  const std::optional<TrustedFunction>& trusted,
                  const std::vector<std::string>& only_read) {
  OwnTask own;
  own.is_plain = true;
  std::vector<Parameter> bridged = launcher.parameters;
  std::vector<std::string> arguments;
  for (Parameter& one : bridged) {
    const bool read = std::ranges::find(only_read, one.name) != only_read.end();
    const bool hides = read && one.type.find("const") == std::string::npos;
    own.is_plain = own.is_plain && !hides;
    arguments.push_back(hides ? fmt::format("const_cast<{}>({})", one.type, one.name) : one.name);
    one.type = (hides ? "const " : "") + one.type;
  }
  own.heading = launcher.returns + " " + launcher.call + parameter_list(launcher.parameters);
  own.bridge_declaration =
      fmt::format("{} {}{}", launcher.returns, bridge_name, parameter_list(bridged));
  own.bridge = fmt::format("static {} {{\n  return {}({});\n}}\n\n", own.bridge_declaration,
                           launcher.call, fmt::join(arguments, ", "));
  if (trusted) {
    std::vector<Parameter> passed;
    std::vector<std::string> casts;
    for (const OwnParameter& one : trusted->function.parameters) {
      const auto meant = std::ranges::find(bridged, one.name, &Parameter::name);
      passed.push_back(*meant);
      casts.push_back(is_pointer_type(meant->type) ? fmt::format("kp_own({})", one.name)
                                                   : one.name);
    }
    own.trusted =
        TrustedSource{trusted->text, fmt::format("void {}{}", trusted_name, parameter_list(passed)),
                      fmt::format("  {}({});\n", trusted->function.call, fmt::join(casts, ", "))};
  }
  own.request = std::move(request);
  return own;
}

}  // namespace kernelpro
