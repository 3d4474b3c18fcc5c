#include "coordinator/cli/output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "common/wire/worker_line.hpp"
#include "coordinator/terminal/color.hpp"

namespace kernelpro {

int exit_code_of(const Error& error) {
  switch (error.kind) {
    case ErrorKind::bad_input:
      return exit_bad_input;
    case ErrorKind::interrupted:
      return exit_interrupted;
    default:
      return exit_environment;
  }
}

void print_json(const nlohmann::json& json) {
  // Paths and compiler text may hold bytes that are no UTF-8.
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

void print_error(const Error& error) {
  fmt::print(stderr, "{} {}\n", painted("kernelpro:", Paint::bad, STDERR_FILENO), error.text());
}

int report_error(const Options& options, const Error& error) {
  if (options.json) {
    print_json({{"error", to_json(error)}});
  }
  print_error(error);
  return exit_code_of(error);
}

}  // namespace kernelpro
