#include "coordinator/task/callers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <limits>
#include <utility>

#include "coordinator/task/own_function.hpp"

namespace kernelpro {

struct Callers::Shared {
  Task task;
  OwnCall call;
};

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <typename T>
double number_as(const std::string& content, std::size_t index) {
  T number{};
  std::memcpy(&number, content.data() + index * sizeof number, sizeof number);
  return static_cast<double>(number);
}

double number_at(const std::string& content, DType dtype, std::size_t index) {
  switch (dtype) {
    case DType::f64:
      return number_as<double>(content, index);
    case DType::i64:
      return number_as<std::int64_t>(content, index);
    case DType::i32:
      return number_as<std::int32_t>(content, index);
    case DType::i16:
      return number_as<std::int16_t>(content, index);
    case DType::i8:
      return number_as<std::int8_t>(content, index);
    case DType::u8:
      return number_as<std::uint8_t>(content, index);
    default:
      return number_as<float>(content, index);
  }
}

std::vector<double> numbers_in(const std::string& content, DType dtype) {
  std::vector<double> numbers(content.size() / size_of(dtype));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = number_at(content, dtype, i);
  }
  return numbers;
}

double rms(const std::vector<double>& numbers) {
  double sum = 0;
  double count = 0;
  for (const double number : numbers) {
    sum += std::isfinite(number) ? number * number : 0;
    count += std::isfinite(number) ? 1 : 0;
  }
  return count > 0 ? std::sqrt(sum / count) : 0;
}

// As the judge measures: |x - r| over |r| and the root mean square of all.
double error_of(double found, double expected, double scale) {
  if (!std::isfinite(found) || !std::isfinite(expected)) {
    return std::isfinite(found) == std::isfinite(expected) ? 0 : infinity;
  }
  if (found == expected) {
    return 0;
  }
  const double size = std::fabs(expected) + scale;
  return size == 0 ? infinity : std::fabs(found - expected) / size;
}

// The first number that is off by more than `bound`.
std::string differing_number(const std::string& name, const std::string& found,
                             const std::string& expected, DType dtype, double bound) {
  const std::vector<double> numbers = numbers_in(found, dtype);
  const std::vector<double> right = numbers_in(expected, dtype);
  const double scale = rms(right);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    // Doubles do not hold every whole number.
    const std::size_t at = i * size_of(dtype);
    const bool wrong = is_floating(dtype)
                           ? error_of(numbers[i], right[i], scale) > bound
                           : found.compare(at, size_of(dtype), expected, at, size_of(dtype)) != 0;
    if (wrong) {
      return fmt::format("{}[{}] is {:.9g}, yours gives {:.9g}", name, i, numbers[i], right[i]);
    }
  }
  return "";
}

std::string sizes_text(const Task& task, const PlannedCall& planned) {
  return fmt::format("({})", shape_text(task, planned.axes));
}

std::string when_text(const Task& task, const PlannedCall& planned) {
  return planned.when.empty() ? sizes_text(task, planned)
                              : fmt::format("when {} {}", planned.when, sizes_text(task, planned));
}

}  // namespace

double Callers::bound_of(const TensorSpec& output, const Axes& axes) const {
  const Task& task = shared_->task;
  const auto length = task.reduction.evaluate(axes);
  const double terms = length.ok() ? std::max(*length, 1.0) : 1.0;
  // Both sides round.
  return 2 * task.tolerance.rounding_factor * rounding_of_sum(output.dtype, terms);
}

std::string Callers::difference(const PlannedCall& planned, const CallerResult& expected,
                                const CallerResult& found) const {
  if (found.status != expected.status) {
    return "a list has another size";
  }
  if (!found.intact) {
    return "it writes around its arrays";
  }
  for (std::size_t i = 0; i < plan_.tensors.size(); ++i) {
    const LeafTensor& tensor = plan_.tensors[i];
    const bool shared = std::ranges::any_of(planned.call.arrays, [i](const CallerArray& array) {
      return array.same == static_cast<std::int64_t>(i);
    });
    // What is an output too is judged as one; there are two names for it.
    const bool exact = tensor.role == LeafRole::input && !shared;
    if (tensor.role == LeafRole::workspace) {
      continue;
    }
    const std::string text =
        differing_number(tensor.leaf->name, found.arrays[i], expected.arrays[i], tensor.spec->dtype,
                         exact ? 0 : bound_of(*tensor.spec, planned.axes));
    if (!text.empty()) {
      return text;
    }
  }
  return "";
}

Result<std::vector<CallerResult>> Callers::results_of(const std::string& source,
                                                      const CallerBuild& build,
                                                      std::stop_token stop) const {
  KP_LET(const CallerProgram program, CallerProgram::build(source, shared_->call, build, stop));
  std::vector<CallerCall> calls;
  calls.reserve(plan_.calls.size());
  for (const PlannedCall& planned : plan_.calls) {
    calls.push_back(planned.call);
  }
  return program.run(calls, std::move(stop));
}

// A result that is no number is none: at odd sizes nobody relies on it.
bool Callers::has_nan(const CallerResult& result) const {
  for (std::size_t i = 0; i < result.arrays.size(); ++i) {
    const LeafTensor& tensor = plan_.tensors[i];
    const auto is_nan = [](double number) { return std::isnan(number); };
    if (tensor.role == LeafRole::output &&
        std::ranges::any_of(numbers_in(result.arrays[i], tensor.spec->dtype), is_nan)) {
      return true;
    }
  }
  return false;
}

// The kinds of calls with one array as input and output whose results are not those of two arrays:
// nobody can rely on them.
std::vector<std::string> Callers::unreliable(const std::vector<CallerResult>& results) const {
  std::vector<std::string> kinds;
  for (std::size_t i = 1; i < plan_.calls.size(); ++i) {
    const PlannedCall& planned = plan_.calls[i];
    const CallerResult& apart = results[i - 1];
    if (!planned.same || !results[i].returned() || !apart.returned()) {
      continue;
    }
    const auto [output, input] = *planned.same;
    const TensorSpec& spec = *plan_.tensors[output].spec;
    const std::string text = differing_number("", results[i].arrays[input], apart.arrays[output],
                                              spec.dtype, bound_of(spec, planned.axes));
    if (!text.empty()) {
      kinds.push_back(planned.when);
    }
  }
  return kinds;
}

// Keeps what the user's build and the checked one agree on.
Status Callers::call_original(const std::string& original, std::stop_token stop) {
  KP_LET(const auto own, results_of(original, own_, stop));
  KP_LET(const auto checked, results_of(original, checked_, stop));
  expected_.assign(plan_.calls.size(), std::nullopt);
  const std::vector<std::string> left_out = unreliable(own);
  bool ordinary = false;
  for (std::size_t i = 0; i < plan_.calls.size(); ++i) {
    const PlannedCall& planned = plan_.calls[i];
    const bool relied_on = std::ranges::find(left_out, planned.when) == left_out.end() &&
                           (planned.when.empty() || !has_nan(own[i]));
    if (relied_on && own[i].returned() && own[i].intact && own[i].status == 0 &&
        checked[i].returned() && difference(planned, own[i], checked[i]).empty()) {
      expected_[i] = own[i];
      ordinary = ordinary || planned.when.empty();
    }
  }
  return ordinary ? Status()
                  : Status(make_error(ErrorKind::environment,
                                      "your function could not be called as its callers do, so no "
                                      "patch was compared with it"));
}

Result<Callers> Callers::prepare(const std::string& original, const std::string& function,
                                 const Task& task, const OwnBuild& build, std::stop_token stop) {
  KP_LET(const ScratchDir scratch, ScratchDir::create("original"));
  const std::filesystem::path file = scratch.path() / "original.cpp";
  KP_TRY(write_file_unsynced(file, original));
  std::vector<std::string> flags;
  std::ranges::copy_if(build.options, std::back_inserter(flags), [](const std::string& option) {
    return option.starts_with("-D") || option.starts_with("-std=");
  });
  KP_LET(const OwnFunction read, read_own_function({file, function, flags, ""}, stop));
  Callers callers;
  callers.shared_ = std::make_shared<Shared>(Shared{task, plan_call(read)});
  KP_LET(callers.plan_, plan_callers(callers.shared_->task, callers.shared_->call));
  Status called;
  const bool native = std::ranges::find(build.options, "target") != build.options.end();
  for (const auto& target :
       native ? target_flag_choices() : std::vector<std::vector<std::string>>{{}}) {
    callers.own_ = own_caller_build(build.compiler, build.options, target);
    callers.checked_ = checked_caller_build(build.options, target);
    called = callers.call_original(original, stop);
    if (called.ok() || stop.stop_requested()) {
      break;
    }
  }
  return called.ok() ? Result<Callers>(std::move(callers)) : Result<Callers>(called.error());
}

Result<std::string> Callers::objection(const std::string& changed, std::stop_token stop) const {
  const auto own = results_of(changed, own_, stop);
  if (!own.ok() && own.error().kind == ErrorKind::bad_input) {
    return fmt::format("does not build as your file does: {}", own.error().message);
  }
  KP_LET(const auto found, own);
  const Task& task = shared_->task;
  for (std::size_t i = 0; i < plan_.calls.size(); ++i) {
    const PlannedCall& planned = plan_.calls[i];
    if (!expected_[i]) {
      continue;
    }
    if (!found[i].returned()) {
      return fmt::format("{} {}, and your function does not",
                         found[i].signal == SIGALRM ? "does not return within 10 s" : "crashes",
                         when_text(task, planned));
    }
    const std::string text = difference(planned, *expected_[i], found[i]);
    if (!text.empty()) {
      return fmt::format("differs from your function {}: {}", when_text(task, planned), text);
    }
  }
  // Not all that g++ takes is known to clang.
  const auto checked = results_of(changed, checked_, std::move(stop));
  if (!checked.ok()) {
    return checked.error().kind == ErrorKind::bad_input ? Result<std::string>(std::string())
                                                        : Result<std::string>(checked.error());
  }
  for (std::size_t i = 0; i < plan_.calls.size(); ++i) {
    if (expected_[i] && !(*checked)[i].returned()) {
      return fmt::format("has undefined behavior {}, and your function has not",
                         when_text(task, plan_.calls[i]));
    }
  }
  return std::string();
}

std::vector<std::string> Callers::served() const {
  std::vector<std::string> kinds;
  for (std::size_t i = 0; i < plan_.calls.size(); ++i) {
    const std::string& when = plan_.calls[i].when;
    if (expected_[i] && std::ranges::find(kinds, when) == kinds.end()) {
      kinds.push_back(when);
    }
  }
  return kinds;
}

}  // namespace kernelpro
