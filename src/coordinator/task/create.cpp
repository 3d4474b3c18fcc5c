#include "coordinator/task/create.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <system_error>
#include <utility>

#include "common/base/file.hpp"
#include "coordinator/task/draft_folder.hpp"
#include "coordinator/task/generate.hpp"
#include "coordinator/task/inline_includes.hpp"
#include "coordinator/task/lexer.hpp"
#include "coordinator/task/load.hpp"
#include "coordinator/task/plan.hpp"
#include "coordinator/task/real_source.hpp"
#include "coordinator/task/signature.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;

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

Result<UserSource> read_source(const fs::path& file, const std::string& entry) {
  auto text = inline_includes(file);
  if (!text.ok()) {
    return text.error();
  }
  auto signature = parse_signature(*text, entry, file.string());
  if (signature.ok() && file.extension() == ".c") {
    text = with_c_linkage(*text, *signature);
    signature = parse_signature(*text, entry, file.string());
  }
  return signature.ok() ? Result<UserSource>(UserSource{*std::move(text), *std::move(signature)})
                        : Result<UserSource>(signature.error());
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
    auto read = read_source(file, last_name(request.entry));
    if (!read.ok()) {
      return read.error();
    }
    source = *std::move(read);
    KP_TRY(check_reference_signature(plan, source.signature, file));
  }
  const auto real_source = to_real(source.text, file);
  if (!real_source.ok()) {
    return real_source.error();
  }
  return std::optional(TaskReference{std::move(source.signature), *real_source});
}

Status refuse_main(const std::string& source, const std::string& file) {
  const auto tokens = lex_cpp(source);
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].directive.empty() && tokens[i].text == "main" && tokens[i + 1].text == "(") {
      return make_error(ErrorKind::bad_input,
                        "this file defines main(), and the task needs the function alone; move the "
                        "function to a file of its own",
                        fmt::format("{}:{}", file, tokens[i].line));
    }
  }
  return {};
}

}  // namespace

Result<fs::path> create_task(const NewTask& request) {
  const fs::path folder = request.directory / request.name;
  KP_TRY(check_request(request, folder));
  const auto user = read_source(request.source, request.entry);
  if (!user.ok()) {
    return user.error();
  }
  KP_TRY(refuse_main(user->text, request.source.string()));
  const auto plan = plan_task(request, user->signature);
  if (!plan.ok()) {
    return plan.error();
  }
  const auto reference = make_task_reference(request, *plan, *user);
  if (!reference.ok()) {
    return reference.error();
  }
  const std::optional<Signature> trusted =
      *reference ? std::optional((*reference)->signature) : std::nullopt;
  const bool openmp = plan->backend == Backend::cpu && uses_openmp(user->text);
  const DraftFolder draft(folder);
  KP_TRY(make_directories(draft.path()));
  KP_TRY(write_file_atomic(draft.path() / "task.toml", generate_toml(*plan, trusted, openmp)));
  if (*reference) {
    KP_TRY(write_file_atomic(draft.path() / "reference.hpp",
                             generate_reference(*plan, *trusted, (*reference)->real_source)));
  }
  const std::string baseline = "baseline" + std::string(traits_of(plan->backend).extension);
  KP_TRY(write_file_atomic(draft.path() / baseline, user->text));
  if (const auto task = load_task(draft.path()); !task.ok()) {
    return draft.renamed(task.error());
  }
  KP_TRY(draft.keep());
  return folder;
}

}  // namespace kernelpro
