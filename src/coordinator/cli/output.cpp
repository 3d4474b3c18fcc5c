#include "coordinator/cli/output.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>

namespace kernelpro {

namespace {

std::string_view kind_text(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::bad_input:
      return "bad_input";
    case ErrorKind::environment:
      return "environment";
    case ErrorKind::io:
      return "io";
    case ErrorKind::busy:
      return "busy";
    case ErrorKind::lost:
      return "lost";
    case ErrorKind::timeout:
      return "timeout";
    case ErrorKind::interrupted:
      return "interrupted";
    case ErrorKind::internal:
      return "internal";
  }
  return "internal";
}

}  // namespace

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

nlohmann::json error_json(const Error& error) {
  return {{"kind", kind_text(error.kind)}, {"message", error.message}, {"context", error.context}};
}

void print_json(const nlohmann::json& json) {
  // Paths and compiler text may hold bytes that are no UTF-8.
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

void print_error(const Error& error) {
  fmt::print(stderr, "kernelpro: {}\n", error.text());
}

int report_error(const Options& options, const Error& error) {
  if (options.json) {
    print_json({{"error", error_json(error)}});
  }
  print_error(error);
  return exit_code_of(error);
}

}  // namespace kernelpro
