// The options of `optimize FILE:FUNCTION`.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <iterator>
#include <sstream>

#include "coordinator/app/own_build.hpp"
#include "coordinator/cli/option_groups.hpp"

namespace kernelpro {

namespace {

std::pair<std::string, std::string> split_at_equals(const std::string& text,
                                                    const std::string& flag) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size()) {
    throw CLI::ValidationError(flag, "expected NAME=VALUE, found \"" + text + "\"");
  }
  return {text.substr(0, at), text.substr(at + 1)};
}

std::int64_t whole_number(const std::string& text, const std::string& flag) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) {
    throw CLI::ValidationError(flag, "expected a whole number, found \"" + text + "\"");
  }
  return number;
}

// A repeatable option whose words are NAME=VALUE.
template <typename Take>
void add_assignments(CLI::App& app, const std::string& flag, const std::string& text, Take take) {
  app.add_option_function<std::vector<std::string>>(
         flag,
         [flag, take](const std::vector<std::string>& all) {
           for (const std::string& one : all) {
             const auto [name, value] = split_at_equals(one, flag);
             take(name, value);
           }
         },
         text)
      ->allow_extra_args(false)
      ->group("Of FILE:FUNCTION");
}

}  // namespace

void add_own_function(CLI::App& app, Options& options) {
  NewTask& wishes = options.own.wishes;
  add_assignments(app, "--size", "What is timed, repeatable: --size n=96",
                  [&wishes](const std::string& name, const std::string& value) {
                    wishes.sizes[name] = whole_number(value, "--size");
                  });
  add_assignments(app, "--held-out", "Sizes that are checked, repeatable: --held-out n=3:40",
                  [&wishes](const std::string& name, const std::string& value) {
                    const std::size_t colon = std::min(value.find(':'), value.size());
                    const std::string high = value.substr(std::min(colon + 1, value.size()));
                    wishes.held_out[name] = {whole_number(value.substr(0, colon), "--held-out"),
                                             whole_number(high, "--held-out")};
                  });
  add_assignments(app, "--axis", "A size that follows from others: --axis \"nnz=rows*16\"",
                  [&wishes](const std::string& name, const std::string& value) {
                    wishes.derived[name] = value;
                  });
  add_assignments(
      app, "--fix", "What is always passed for a number: --fix lda=k",
      [&wishes](const std::string& name, const std::string& value) { wishes.fixed[name] = value; });
  add_assignments(app, "--values", "How an input is drawn: --values x=uniform:0:255, idx=index:n",
                  [&wishes](const std::string& name, const std::string& value) {
                    wishes.values[name] = value;
                  });
  add_assignments(app, "--shape", "The extents of a tensor: --shape a=m,k",
                  [&wishes](const std::string& name, const std::string& value) {
                    std::istringstream parts(value);
                    for (std::string part; std::getline(parts, part, ',');) {
                      wishes.shapes[name].push_back(part);
                    }
                  });
  app.add_option_function<std::vector<std::string>>(
         "-I",
         [&wishes](const std::vector<std::string>& all) {
           for (const std::string& folder : all) {
             wishes.flags.push_back("-I" + folder);
           }
         },
         "A folder with headers of the file, repeatable")
      ->allow_extra_args(false)
      ->group("Of FILE:FUNCTION");
  app.add_option_function<std::vector<std::string>>(
         "-D",
         [&wishes](const std::vector<std::string>& all) {
           for (const std::string& macro : all) {
             wishes.flags.push_back("-D" + macro);
           }
         },
         "A macro of the file, repeatable: -D N=64")
      ->allow_extra_args(false)
      ->group("Of FILE:FUNCTION");
  app.add_option_function<std::string>(
         "--flags",
         [&wishes](const std::string& text) {
           std::ranges::copy(build_options(text), std::back_inserter(wishes.options));
         },
         "How you build the file (default -O2): --flags \"-O3 -march=native\"")
      ->group("Of FILE:FUNCTION");
  app.add_option("--compile-commands", options.own.compile_commands,
                 "compile_commands.json that says how (default: the one found above the file)")
      ->group("Of FILE:FUNCTION");
  app.add_option("--reference", wishes.reference,
                 "A file with a function of that name that is right, or `original`")
      ->group("Of FILE:FUNCTION");
  app.add_flag("--serial", options.serial, "No threads: the result stays on one processor")
      ->group("Of FILE:FUNCTION");
}

}  // namespace kernelpro
