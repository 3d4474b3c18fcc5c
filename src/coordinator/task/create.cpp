#include "coordinator/task/create.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <system_error>
#include <utility>

#include "common/base/file.hpp"
#include "coordinator/task/adapt.hpp"
#include "coordinator/task/clang_tree.hpp"
#include "coordinator/task/draft_folder.hpp"
#include "coordinator/task/generate.hpp"
#include "coordinator/task/inline_includes.hpp"
#include "coordinator/task/lexer.hpp"
#include "coordinator/task/load.hpp"
#include "coordinator/task/own_call.hpp"
#include "coordinator/task/plan.hpp"
#include "coordinator/task/real_source.hpp"
#include "coordinator/task/scalar_values.hpp"
#include "coordinator/task/signature.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const NewTask& request) {
  return request.directory / (request.folder.empty() ? request.name : request.folder);
}

Status check_request(const NewTask& request, const fs::path& folder) {
  KP_TRY(check_new_task(request.name, folder));
  std::error_code failed;
  if (!fs::is_regular_file(request.source, failed)) {
    return make_error(ErrorKind::bad_input,
                      "there is no such file; expected a C++ or CUDA source (--from)",
                      request.source.string());
  }
  return {};
}

bool uses_openmp(const std::string& source) {
  const auto tokens = lex_cpp(source);
  return std::any_of(tokens.begin(), tokens.end(), [](const Token& token) {
    return token.directive == "pragma" && token.text == "omp";
  });
}

// Called from C, a function keeps its name when C++ compilers build it.
std::string with_c_linkage(const std::string& source, const Signature& signature) {
  const bool local = source.compare(signature.first, 6, "static") == 0;
  return signature.c_linkage || local
             ? source
             : apply_edits(source, {{signature.first, 0, "extern \"C\" "}});
}

struct UserSource {
  std::string text;
  Signature signature;
};

// What the user did not say of floating numbers is seen from the code.
NewTask with_scalar_values(NewTask request, const UserSource& user) {
  for (const EntryParameter& one : user.signature.parameters) {
    if (one.role != EntryParameter::Role::scalar || request.fixed.contains(one.name)) {
      continue;
    }
    if (const std::string values = scalar_values(user.text, one.name); !values.empty()) {
      request.values.emplace(one.name, values);
    }
  }
  return request;
}

// Where the word stands with parentheses behind it, in the file itself; 0: nowhere.
int line_of_call(const fs::path& file, const std::string& word) {
  const auto text = read_file(file);
  const auto tokens = lex_cpp(text.ok() ? *text : "");
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].directive.empty() && tokens[i].text == word && tokens[i + 1].text == "(") {
      return tokens[i].line;
    }
  }
  return 0;
}

Result<UserSource> read_source(const fs::path& file, const std::string& entry,
                               const NewTask& request) {
  KP_LET(auto text, inline_found(file, include_folders(request.flags), request.root));
  auto signature = parse_signature(text, entry, file.string());
  if (signature.ok() && file.extension() == ".c") {
    text = with_c_linkage(text, *signature);
    signature = parse_signature(text, entry, file.string());
  }
  if (signature.ok()) {
    return UserSource{std::move(text), *std::move(signature)};
  }
  // Without what was pasted lines are those of the file.
  if (line_of_call(file, last_name(entry)) > 0) {
    KP_LET(const std::string alone, read_file(file));
    const auto again = parse_signature(alone, entry, file.string());
    return again.ok() ? signature.error() : again.error();
  }
  return signature.error();
}

// The macros of a build as lines: the oracle builds without flags of the user's.
std::string macro_lines(const std::vector<std::string>& flags) {
  std::string text;
  for (const std::string& flag : flags) {
    if (flag.starts_with("-D")) {
      const std::size_t equals = std::min(flag.find('='), flag.size());
      const std::string value = equals < flag.size() ? flag.substr(equals + 1) : "1";
      text += fmt::format("#define {} {}\n", flag.substr(2, equals - 2), value);
    }
  }
  return text;
}

// Where the expected values come from; none: from the original.
struct TaskReference {
  Signature signature;
  std::string real_source;
};

Result<std::optional<TaskReference>> make_task_reference(const NewTask& request,
                                                         const TaskPlan& plan,
                                                         const UserSource& user) {
  const bool original = request.reference == original_reference ||
                        (request.reference.empty() && plan.backend == Backend::cuda);
  if (original) {
    return std::optional<TaskReference>();
  }
  std::string file = request.source.string();
  UserSource source = user;
  if (!request.reference.empty()) {
    file = request.reference;
    std::error_code failed;
    if (!fs::is_regular_file(file, failed)) {
      return make_error(ErrorKind::bad_input,
                        "there is no such file; expected a C++ source with the function to trust, "
                        "or `original` (--reference)",
                        file);
    }
    KP_LET(source, read_source(file, last_name(request.entry), request));
    KP_TRY(check_reference_signature(plan, source.signature, file));
  }
  KP_LET(const auto real_source, to_real(source.text, file));
  return std::optional(
      TaskReference{std::move(source.signature), macro_lines(request.flags) + real_source});
}

Status refuse_main(const NewTask& request) {
  const int line = line_of_call(request.source, "main");
  if (line == 0) {
    return {};
  }
  return make_error(
      ErrorKind::bad_input,
      fmt::format("this file defines main(), and the task needs the function alone; move the "
                  "function to a file of its own, or let clang read the file as it is: `kernelpro "
                  "optimize {}:{} --dry-run` makes the task",
                  request.source.string(), request.entry),
      fmt::format("{}:{}", request.source.string(), line));
}

// Writes the folder; `bridge` may be empty.
Result<fs::path> write_task(const NewTask& request, const TaskPlan& plan, const UserSource& user,
                            const std::optional<TaskReference>& reference,
                            const std::string& bridge) {
  const fs::path folder = folder_of(request);
  const std::optional<Signature> trusted =
      reference ? std::optional(reference->signature) : std::nullopt;
  const bool openmp = plan.backend == Backend::cpu && uses_openmp(user.text);
  const DraftFolder draft(folder);
  KP_TRY(make_directories(draft.path()));
  KP_TRY(write_file_atomic(draft.path() / "task.toml", generate_toml(plan, trusted, openmp)));
  if (reference) {
    KP_TRY(write_file_atomic(draft.path() / "reference.hpp",
                             generate_reference(plan, *trusted, reference->real_source)));
  }
  if (!bridge.empty()) {
    KP_TRY(write_file_atomic(draft.path() / bridge_file, bridge));
  }
  const std::string baseline = "baseline" + std::string(traits_of(plan.backend).extension);
  KP_TRY(write_file_atomic(draft.path() / baseline, user.text));
  if (const auto task = load_task(draft.path()); !task.ok()) {
    return draft.renamed(task.error());
  }
  KP_TRY(draft.keep());
  return folder;
}

// Why the reference is no C++ as the oracle builds it.
Status check_over_real(const TaskPlan& plan, const TaskReference& reference) {
  const std::string unit = "#include <cstdint>\nusing Real = double;\n" +
                           generate_reference(plan, reference.signature, reference.real_source);
  const auto compiled = clang_declarations(unit, "kp_nothing_of_that_name", {}, {});
  return compiled.ok() ? Status() : Status(compiled.error());
}

// What is trusted over Real, behind a function with the parameters of the task.
Result<TaskReference> trusted_reference(const TrustedSource& trusted, const TaskPlan& plan,
                                        const NewTask& request) {
  const std::string file = request.source.string();
  TaskReference reference;
  KP_LET(reference.signature, parse_signature(trusted.declaration + " {}", trusted_name, file));
  KP_TRY(check_reference_signature(plan, reference.signature, file));
  KP_LET(const std::string real, to_real(trusted.text, file));
  std::vector<std::string> parameters;
  for (const EntryParameter& one : reference.signature.parameters) {
    const bool pointer =
        one.role == EntryParameter::Role::input || one.role == EntryParameter::Role::output;
    const bool floating =
        one.role == EntryParameter::Role::scalar || (pointer && is_floating(one.dtype));
    parameters.push_back(fmt::format("{}{}{} {}",
                                     one.role == EntryParameter::Role::input ? "const " : "",
                                     floating ? "Real" : one.type, pointer ? "*" : "", one.name));
  }
  reference.real_source = macro_lines(request.flags) + real +
                          fmt::format(
                              "\ntemplate <typename T>\nT* kp_own(const T* pointer) {{\n  return "
                              "const_cast<T*>(pointer);\n}}\n\ninline void {}({}) {{\n{}}}\n",
                              trusted_name, fmt::join(parameters, ", "), trusted.body);
  const Status compiled = check_over_real(plan, reference);
  if (!compiled.ok()) {
    return make_error(ErrorKind::bad_input,
                      "what says what is right cannot be computed in double precision (" +
                          compiled.error().message + "); trust the original: --reference original",
                      file);
  }
  return reference;
}

}  // namespace

std::vector<fs::path> include_folders(const std::vector<std::string>& flags) {
  std::vector<fs::path> folders;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (flags[i].starts_with("-I") && flags[i].size() > 2) {
      folders.emplace_back(flags[i].substr(2));
    } else if (flags[i] == "-I" && i + 1 < flags.size()) {
      folders.emplace_back(flags[i + 1]);
    }
  }
  return folders;
}

Status check_plain_source(const NewTask& request) {
  KP_TRY(read_source(request.source, request.entry, request));
  return refuse_main(request);
}

Result<fs::path> create_task(const NewTask& request) {
  KP_TRY(check_request(request, folder_of(request)));
  KP_LET(const UserSource user, read_source(request.source, request.entry, request));
  KP_TRY(refuse_main(request));
  KP_LET(const TaskPlan plan, plan_task(with_scalar_values(request, user), user.signature));
  KP_LET(const std::optional<TaskReference> reference, make_task_reference(request, plan, user));
  return write_task(request, plan, user, reference, "");
}

namespace {

// Whole numbers out of real arithmetic: more precise values round to others than the original's, so
// that these are the ones expected.
bool rounds_to_whole(const TaskPlan& plan, const UserSource& user) {
  const bool whole = std::ranges::any_of(
      plan.outputs, [](const PlannedTensor& output) { return !is_floating(output.dtype); });
  const std::vector<Token> tokens = lex_cpp(user.text);
  return whole && std::ranges::any_of(tokens, [](const Token& token) {
           return token.directive.empty() && (token.text == "float" || token.text == "double");
         });
}

}  // namespace

Result<fs::path> create_own_task(const OwnTask& own) {
  const NewTask& request = own.request;
  KP_TRY(check_request(request, folder_of(request)));
  UserSource user;
  KP_LET(user.text, inline_marked(request.source, include_folders(request.flags), request.root));
  KP_LET(user.signature, own.bridge.empty()
                             ? parse_signature(user.text, request.entry, request.source.string())
                             : parse_signature(own.bridge_declaration + " {}", bridge_name,
                                               request.source.string()));
  KP_LET(TaskPlan plan, plan_task(with_scalar_values(request, user), user.signature));
  plan.heading = own.heading;
  std::optional<TaskReference> reference;
  if (own.trusted) {
    KP_LET(reference, trusted_reference(*own.trusted, plan, request));
  } else if (plan.backend == Backend::cpu &&
             (!request.reference.empty() || (own.bridge.empty() && !rounds_to_whole(plan, user)))) {
    auto made = make_task_reference(request, plan, user);
    if (!made.ok() && !request.reference.empty()) {
      return made.error();
    }
    reference = made.ok() ? *std::move(made) : std::nullopt;
    if (reference) {
      reference = check_over_real(plan, *reference).ok() ? std::move(reference) : std::nullopt;
    }
  }
  return write_task(request, plan, user, reference, own.bridge);
}

}  // namespace kernelpro
