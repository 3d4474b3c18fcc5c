// What every command prints in the same way: errors, JSON, exit codes.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/base/result.hpp"
#include "coordinator/options/options.hpp"

namespace kernelpro {

[[nodiscard]] int exit_code_of(const Error& error);

void print_json(const nlohmann::json& json);

// The error on standard error for people.
void print_error(const Error& error);

// The error for people and, with --json, as the one document on standard output. Returns the exit
// code.
int report_error(const Options& options, const Error& error);

}  // namespace kernelpro
