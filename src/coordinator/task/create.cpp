#include "coordinator/task/create.hpp"

#include <fmt/format.h>

#include <algorithm>
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
    return make_error(ErrorKind::bad_input, "there is no such file; expected a C++ source (--from)",
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

}  // namespace

Result<fs::path> create_task(const NewTask& request) {
  const fs::path folder = request.directory / request.name;
  KP_TRY(check_request(request, folder));
  const auto source = inline_includes(request.source);
  if (!source.ok()) {
    return source.error();
  }
  const std::string file = request.source.string();
  const auto signature = parse_signature(*source, request.entry, file);
  if (!signature.ok()) {
    return signature.error();
  }
  const auto plan = plan_task(request, *signature);
  if (!plan.ok()) {
    return plan.error();
  }
  const auto real_source = to_real(*source, file);
  if (!real_source.ok()) {
    return real_source.error();
  }
  const DraftFolder draft(folder);
  KP_TRY(make_directories(draft.path()));
  KP_TRY(write_file_atomic(draft.path() / "task.toml", generate_toml(*plan, uses_openmp(*source))));
  KP_TRY(
      write_file_atomic(draft.path() / "reference.hpp", generate_reference(*plan, *real_source)));
  KP_TRY(write_file_atomic(draft.path() / "baseline.cpp", generate_baseline(*plan, *source)));
  if (const auto task = load_task(draft.path()); !task.ok()) {
    return draft.renamed(task.error());
  }
  KP_TRY(draft.keep());
  return folder;
}

}  // namespace kernelpro
