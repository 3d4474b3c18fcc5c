#include "coordinator/suite/checkout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <sstream>
#include <system_error>

namespace kernelpro {
namespace {

namespace fs = std::filesystem;

constexpr int most_number = 100'000;

std::optional<int> parse_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && number >= 1 && number <= most_number ? std::optional(number) : std::nullopt;
}

// "19" or "19-23".
std::optional<std::pair<int, int>> parse_range(const std::string& text) {
  const std::size_t dash = text.find('-');
  const std::optional<int> first = parse_number(std::string_view(text).substr(0, dash));
  const std::optional<int> last =
      dash == std::string::npos ? first : parse_number(std::string_view(text).substr(dash + 1));
  return first && last && *first <= *last ? std::optional(std::pair(*first, *last)) : std::nullopt;
}

// The folder that holds level1, level2, …
Result<fs::path> levels_folder(const fs::path& checkout) {
  std::error_code failure;
  if (!fs::is_directory(checkout, failure)) {
    return make_error(ErrorKind::bad_input,
                      "there is no such folder: clone KernelBench, and name the checkout",
                      checkout.string());
  }
  for (const fs::path& folder : {checkout / "KernelBench", checkout}) {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, failure)) {
      if (entry.is_directory(failure) && entry.path().filename().string().starts_with("level")) {
        return folder;
      }
    }
  }
  return make_error(ErrorKind::bad_input,
                    "it has neither KernelBench/level1 nor level1: name a checkout of KernelBench",
                    checkout.string());
}

std::string level_names(const fs::path& folder) {
  std::set<std::string> names;
  std::error_code failure;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory(failure) && name.starts_with("level")) {
      names.insert(name);
    }
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<std::vector<SuiteProblem>> problems_of_level(const fs::path& folder, int level) {
  std::vector<SuiteProblem> problems;
  std::error_code failure;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename().string();
    const std::optional<int> number = parse_number(name.substr(0, name.find('_')));
    if (number && name.find('_') != std::string::npos && name.ends_with(".py")) {
      problems.push_back({{level, *number}, entry.path().stem().string(), entry.path()});
    }
  }
  if (problems.empty()) {
    return make_error(ErrorKind::bad_input,
                      "it has no problem (1_*.py): is this a checkout of KernelBench?",
                      folder.string());
  }
  std::ranges::sort(problems, {}, [](const SuiteProblem& p) { return std::pair(p.id, p.name); });
  for (std::size_t i = 1; i < problems.size(); ++i) {
    if (problems[i].id == problems[i - 1].id) {
      return make_error(ErrorKind::bad_input,
                        fmt::format("problem {} is there twice: {} and {}", problems[i].id.number,
                                    problems[i - 1].name, problems[i].name),
                        folder.string());
    }
  }
  return problems;
}

// "1_19.cu" as a problem.
std::optional<ProblemId> parse_problem(const std::string& stem) {
  const std::size_t bar = stem.find('_');
  if (bar == std::string::npos) {
    return std::nullopt;
  }
  const std::optional<int> level = parse_number(std::string_view(stem).substr(0, bar));
  const std::optional<int> number = parse_number(std::string_view(stem).substr(bar + 1));
  return level && number ? std::optional(ProblemId{*level, *number}) : std::nullopt;
}

}  // namespace

Result<std::vector<int>> parse_numbers(const std::string& text, const std::string& flag) {
  std::set<int> numbers;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const auto range = parse_range(part);
    if (!range) {
      return make_error(ErrorKind::bad_input,
                        fmt::format("expected numbers such as 1,19-23, found \"{}\"", part), flag);
    }
    for (int number = range->first; number <= range->second; ++number) {
      numbers.insert(number);
    }
  }
  if (numbers.empty()) {
    return make_error(ErrorKind::bad_input, "expected numbers such as 1,19-23, found nothing",
                      flag);
  }
  return std::vector<int>(numbers.begin(), numbers.end());
}

Result<std::vector<SuiteProblem>> list_problems(const fs::path& checkout,
                                                const std::vector<int>& levels) {
  KP_LET(const fs::path folder, levels_folder(fs::absolute(checkout).lexically_normal()));
  std::vector<SuiteProblem> all;
  for (const int level : levels) {
    const fs::path place = folder / fmt::format("level{}", level);
    std::error_code failure;
    if (!fs::is_directory(place, failure)) {
      return make_error(
          ErrorKind::bad_input,
          fmt::format("it has no level {}; its levels are {}", level, level_names(folder)),
          folder.string());
    }
    KP_LET(const std::vector<SuiteProblem> problems, problems_of_level(place, level));
    all.insert(all.end(), problems.begin(), problems.end());
  }
  return all;
}

Result<std::vector<SuiteProblem>> choose_problems(const std::vector<SuiteProblem>& problems,
                                                  const std::vector<int>& numbers) {
  if (numbers.empty()) {
    return problems;
  }
  std::vector<SuiteProblem> chosen;
  std::set<int> found;
  for (const SuiteProblem& problem : problems) {
    if (std::ranges::binary_search(numbers, problem.id.number)) {
      chosen.push_back(problem);
      found.insert(problem.id.number);
    }
  }
  std::vector<int> unknown;
  std::ranges::set_difference(numbers, found, std::back_inserter(unknown));
  if (!unknown.empty()) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("no chosen level has problem {}", fmt::join(unknown, ", ")),
                      "--problems");
  }
  return chosen;
}

Result<std::map<ProblemId, fs::path>> find_candidates(const fs::path& folder,
                                                      const std::string& extension,
                                                      const std::vector<SuiteProblem>& problems) {
  std::set<ProblemId> known;
  std::set<int> levels;
  for (const SuiteProblem& problem : problems) {
    known.insert(problem.id);
    levels.insert(problem.id.level);
  }
  std::error_code failure;
  if (!fs::is_directory(folder, failure)) {
    return make_error(ErrorKind::bad_input, "there is no such folder of candidates",
                      folder.string());
  }
  std::map<ProblemId, fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failure)) {
    if (entry.path().extension() != extension) {
      continue;
    }
    const std::optional<ProblemId> problem = parse_problem(entry.path().stem().string());
    if (!problem) {
      return make_error(
          ErrorKind::bad_input,
          fmt::format("expected a name such as 1_19{}, for problem 19 of level 1", extension),
          entry.path().string());
    }
    if (levels.contains(problem->level) && !known.contains(*problem)) {
      return make_error(ErrorKind::bad_input,
                        fmt::format("level {} has no problem {}", problem->level, problem->number),
                        entry.path().string());
    }
    found.emplace(*problem, entry.path());
  }
  if (found.empty()) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("it has no candidate: expected files such as 1_19{0}, for "
                                  "problem 19 of level 1 (--backend chooses between .cpp and .cu)",
                                  extension),
                      folder.string());
  }
  return found;
}

}  // namespace kernelpro
