#include "coordinator/propose/agents/prompt_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/base/file.hpp"
#include "coordinator/propose/agents/section.hpp"
#include "coordinator/propose/agents/text.hpp"

namespace kernelpro::agents {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view fence = "---";
constexpr std::string_view opening = "{{";
constexpr std::string_view closing = "}}";

// The contract, and what each backend adds.
std::vector<std::string> part_names() {
  std::vector<std::string> names = backend_names();
  names.insert(names.begin(), "contract");
  return names;
}

// What a role answers, and what it cannot work without.
struct RoleForm {
  LlmRole role;
  const char* answer;
  std::vector<std::string> needs;
};

const RoleForm& form_of(LlmRole role) {
  static const std::vector<RoleForm> forms = {
      {LlmRole::planner, "plan", {"task", "parent"}},
      {LlmRole::coder, "code", {"task", "parent", "plan"}},
      {LlmRole::fixer, "code", {"task", "parent", "evidence"}},
      {LlmRole::reviewer, "review", {"task", "plan", "candidate"}},
  };
  return *std::find_if(forms.begin(), forms.end(),
                       [role](const RoleForm& form) { return form.role == role; });
}

struct Place {
  std::string file;
  std::size_t line = 1;

  [[nodiscard]] Error error(const std::string& message) const {
    return make_error(ErrorKind::bad_input, message, fmt::format("{}:{}", file, line));
  }
};

struct FrontMatter {
  std::map<std::string, std::string> keys;
  std::size_t lines = 0;  // both fences included
};

Result<FrontMatter> read_front_matter(const std::vector<std::string>& lines, Place at) {
  if (lines.empty() || trimmed(lines.front()) != fence) {
    return at.error("expected --- before the keys");
  }
  FrontMatter out;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    at.line = i + 1;
    const std::string line = trimmed(lines[i]);
    if (line == fence) {
      out.lines = i + 1;
      return out;
    }
    const std::size_t colon = line.find(':');
    if (line.empty()) {
      continue;
    }
    if (colon == std::string::npos) {
      return at.error(fmt::format(R"(expected "key: value", not "{}")", line));
    }
    const std::string key = trimmed(line.substr(0, colon));
    if (!out.keys.emplace(key, trimmed(line.substr(colon + 1))).second) {
      return at.error(fmt::format("the key {} is there twice", key));
    }
  }
  return at.error("expected --- after the keys");
}

// The value of the only keys that may be there.
Result<std::vector<std::string>> values_of(const FrontMatter& front,
                                           const std::vector<std::string>& keys, const Place& at) {
  std::vector<std::string> values;
  for (const std::string& key : keys) {
    const auto found = front.keys.find(key);
    if (found == front.keys.end() || found->second.empty()) {
      return at.error(fmt::format("expected the key {}", key));
    }
    values.push_back(found->second);
  }
  for (const auto& [key, value] : front.keys) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      return at.error(
          fmt::format("expected the keys {} only, not \"{}\"", fmt::join(keys, ", "), key));
    }
  }
  return values;
}

Status check_section(const std::string& name, bool in_system, const Place& at) {
  const Section* section = find_section(name);
  if (section == nullptr) {
    return at.error(fmt::format("there is no section \"{}\"; expected one of {}", name,
                                fmt::join(section_names(), ", ")));
  }
  if (in_system && !section->steady) {
    return at.error(
        fmt::format("{{{{{}}}}} differs from call to call: it belongs under # user, so that "
                    "providers can cache what stands under # system",
                    name));
  }
  return {};
}

// Takes one line apart, its end included.
Status add_line(const std::string& line, bool in_system, const Place& at,
                std::vector<PromptPiece>& pieces) {
  const auto add_text = [&pieces](const std::string& text) {
    if (text.empty()) {
      return;
    }
    if (pieces.empty() || pieces.back().section) {
      pieces.push_back({false, ""});
    }
    pieces.back().text += text;
  };
  std::size_t from = 0;
  for (std::size_t open = line.find(opening); open != std::string::npos;
       open = line.find(opening, from)) {
    const std::size_t close = line.find(closing, open);
    if (close == std::string::npos) {
      return at.error("expected }} behind {{ on the same line");
    }
    const std::string name = line.substr(open + opening.size(), close - open - opening.size());
    KP_TRY(check_section(name, in_system, at));
    add_text(line.substr(from, open - from));
    pieces.push_back({true, name});
    from = close + closing.size();
  }
  add_text(line.substr(from) + "\n");
  return {};
}

Status check_needs(const PromptFile& prompt, const std::string& file) {
  std::set<std::string> there;
  for (const auto* pieces : {&prompt.system, &prompt.user}) {
    for (const PromptPiece& piece : *pieces) {
      if (piece.section) {
        there.insert(piece.text);
      }
    }
  }
  for (const std::string& name : form_of(prompt.role).needs) {
    if (!there.contains(name)) {
      return make_error(ErrorKind::bad_input,
                        fmt::format("expected the place {{{{{}}}}}: the {} cannot work without it",
                                    name, name_of(prompt.role)),
                        file);
    }
  }
  return {};
}

std::string file_of(const std::string& name) {
  return name + ".md";
}

std::vector<std::string> known_files() {
  std::vector<std::string> names;
  for (const LlmRole role : llm_roles()) {
    names.push_back(file_of(std::string(name_of(role))));
  }
  for (const std::string& part : part_names()) {
    names.push_back(file_of(part));
  }
  return names;
}

Status check_own_folder(const fs::path& folder) {
  std::error_code failure;
  std::vector<std::string> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failure)) {
    if (entry.path().extension() == ".md") {
      found.push_back(entry.path().filename().string());
    }
  }
  if (failure) {
    return make_error(ErrorKind::bad_input,
                      "the folder of prompts cannot be read: " + failure.message(),
                      folder.string());
  }
  const std::vector<std::string> known = known_files();
  std::sort(found.begin(), found.end());
  for (const std::string& name : found) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return make_error(ErrorKind::bad_input,
                        fmt::format("no prompt has that name; expected {}", fmt::join(known, ", ")),
                        (folder / name).string());
    }
  }
  if (found.empty()) {
    return make_error(
        ErrorKind::bad_input,
        fmt::format("no prompt is there; expected some of {}", fmt::join(known, ", ")),
        folder.string());
  }
  return {};
}

fs::path choose(const fs::path& own, const fs::path& installed, const std::string& name) {
  std::error_code failure;
  const bool has_own = !own.empty() && fs::exists(own / name, failure);
  return (has_own ? own : installed) / name;
}

}  // namespace

Result<PromptFile> parse_prompt(const std::string& text, const std::string& file) {
  const std::vector<std::string> lines = lines_of(text);
  Place at{file};
  KP_LET(const FrontMatter front, read_front_matter(lines, at));
  KP_LET(const std::vector<std::string> values, values_of(front, {"role", "answer"}, at));
  const std::optional<LlmRole> role = parse_llm_role(values.front());
  if (!role) {
    return at.error(fmt::format("there is no role \"{}\"", values.front()));
  }
  if (values.back() != form_of(*role).answer) {
    return at.error(fmt::format(R"(the answer of a {} is "{}", not "{}")", name_of(*role),
                                form_of(*role).answer, values.back()));
  }
  PromptFile prompt;
  prompt.role = *role;
  std::vector<PromptPiece>* part = nullptr;
  for (std::size_t i = front.lines; i < lines.size(); ++i) {
    at.line = i + 1;
    if (lines[i] == "# system" || lines[i] == "# user") {
      part = lines[i] == "# system" ? &prompt.system : &prompt.user;
      if (!part->empty()) {
        return at.error(fmt::format("\"{}\" is there twice", lines[i]));
      }
    } else if (part != nullptr) {
      KP_TRY(add_line(lines[i], part == &prompt.system, at, *part));
    } else if (!trimmed(lines[i]).empty()) {
      return at.error(R"(expected "# system" or "# user" before any text)");
    }
  }
  for (const auto& [name, pieces] :
       {std::pair("# system", &prompt.system), std::pair("# user", &prompt.user)}) {
    if (pieces->empty()) {
      return at.error(fmt::format("the part \"{}\" is missing", name));
    }
  }
  KP_TRY(check_needs(prompt, file));
  return prompt;
}

Result<std::string> parse_prompt_part(const std::string& text, const std::string& file) {
  const std::vector<std::string> lines = lines_of(text);
  Place at{file};
  KP_LET(const FrontMatter front, read_front_matter(lines, at));
  KP_LET(const std::vector<std::string> values, values_of(front, {"part"}, at));
  const std::string wanted = fs::path(file).stem().string();
  if (values.front() != wanted) {
    return at.error(fmt::format("expected \"part: {}\", as the file is called", wanted));
  }
  std::string out;
  for (std::size_t i = front.lines; i < lines.size(); ++i) {
    if (lines[i].find(opening) != std::string::npos) {
      at.line = i + 1;
      return at.error("a part has no places: {{ is not allowed here");
    }
    out += lines[i] + "\n";
  }
  return trimmed(out);
}

Result<PromptSet> load_prompts(const fs::path& own, const fs::path& installed) {
  if (!own.empty()) {
    KP_TRY(check_own_folder(own));
  }
  PromptSet set;
  for (const LlmRole role : llm_roles()) {
    const fs::path file = choose(own, installed, file_of(std::string(name_of(role))));
    KP_LET(const std::string text, read_file(file));
    KP_LET(PromptFile prompt, parse_prompt(text, file.string()));
    if (prompt.role != role) {
      return make_error(ErrorKind::bad_input,
                        fmt::format("expected \"role: {}\", as the file is called", name_of(role)),
                        file.string());
    }
    set.roles.emplace(role, std::move(prompt));
  }
  for (const std::string& name : part_names()) {
    const fs::path file = choose(own, installed, file_of(name));
    KP_LET(const std::string text, read_file(file));
    KP_LET(std::string part, parse_prompt_part(text, file.string()));
    set.parts.emplace(name, std::move(part));
  }
  return set;
}

}  // namespace kernelpro::agents
