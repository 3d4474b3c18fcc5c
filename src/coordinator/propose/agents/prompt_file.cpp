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
#include "coordinator/propose/agents/prompt_pieces.hpp"
#include "coordinator/propose/agents/section.hpp"
#include "coordinator/propose/agents/text.hpp"

namespace kernelpro::agents {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view fence = "---";

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

// Of first kernels. Who repairs or reviews one is told what it is about by its sections.
constexpr auto first_roles = std::to_array<LlmRole>({LlmRole::planner, LlmRole::coder});

std::string first_name(LlmRole role) {
  return fmt::format("{}_first", name_of(role));
}

std::vector<std::string> known_files() {
  std::vector<std::string> names;
  for (const LlmRole role : llm_roles()) {
    names.push_back(file_of(std::string(name_of(role))));
  }
  for (const LlmRole role : first_roles) {
    names.push_back(file_of(first_name(role)));
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

bool has_own(const fs::path& own, const std::string& name) {
  std::error_code failure;
  return !own.empty() && fs::exists(own / name, failure);
}

fs::path choose(const fs::path& own, const fs::path& installed, const std::string& name) {
  return (has_own(own, name) ? own : installed) / name;
}

Result<PromptFile> load_role(const fs::path& file, LlmRole role) {
  KP_LET(const std::string text, read_file(file));
  KP_LET(PromptFile prompt, parse_prompt(text, file.string()));
  if (prompt.role != role) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("expected \"role: {}\", as the file is called", name_of(role)),
                      file.string());
  }
  return prompt;
}

// The system part and the user part, from the line `first` on.
Status read_parts(const std::vector<std::string>& lines, std::size_t first, Place& at,
                  PromptFile& prompt) {
  std::optional<PieceReader> reader;
  for (std::size_t i = first; i < lines.size(); ++i) {
    at.line = i + 1;
    if (lines[i] == "# system" || lines[i] == "# user") {
      KP_TRY(reader ? reader->end(at) : Status());
      const bool in_system = lines[i] == "# system";
      std::vector<PromptPiece>& part = in_system ? prompt.system : prompt.user;
      if (!part.empty()) {
        return at.error(fmt::format("\"{}\" is there twice", lines[i]));
      }
      reader.emplace(part, [in_system](const std::string& name, const Place& place) {
        return check_section(name, in_system, place);
      });
    } else if (reader) {
      KP_TRY(reader->add(lines[i], at));
    } else if (!trimmed(lines[i]).empty()) {
      return at.error(R"(expected "# system" or "# user" before any text)");
    }
  }
  KP_TRY(reader ? reader->end(at) : Status());
  for (const auto& [name, pieces] :
       {std::pair("# system", &prompt.system), std::pair("# user", &prompt.user)}) {
    if (pieces->empty()) {
      return at.error(fmt::format("the part \"{}\" is missing", name));
    }
  }
  return {};
}

}  // namespace

const PromptFile& PromptSet::of(LlmRole role, bool no_kernel) const {
  const auto found = first.find(role);
  return no_kernel && found != first.end() ? found->second : roles.at(role);
}

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
  KP_TRY(read_parts(lines, front.lines, at, prompt));
  KP_TRY(check_needs(prompt, file));
  return prompt;
}

Result<std::vector<PromptPiece>> parse_prompt_part(const std::string& text,
                                                   const std::string& file) {
  const std::vector<std::string> lines = lines_of(text);
  Place at{file};
  KP_LET(const FrontMatter front, read_front_matter(lines, at));
  KP_LET(const std::vector<std::string> values, values_of(front, {"part"}, at));
  const std::string wanted = fs::path(file).stem().string();
  if (values.front() != wanted) {
    return at.error(fmt::format("expected \"part: {}\", as the file is called", wanted));
  }
  std::vector<PromptPiece> pieces;
  PieceReader reader(pieces, [](const std::string& /*name*/, const Place& place) {
    return Status(place.error("a part has no places: {{ is not allowed here"));
  });
  for (std::size_t i = front.lines; i < lines.size(); ++i) {
    at.line = i + 1;
    KP_TRY(reader.add(lines[i], at));
  }
  KP_TRY(reader.end(at));
  return pieces;
}

Result<PromptSet> load_prompts(const fs::path& own, const fs::path& installed) {
  if (!own.empty()) {
    KP_TRY(check_own_folder(own));
  }
  PromptSet set;
  for (const LlmRole role : llm_roles()) {
    const fs::path file = choose(own, installed, file_of(std::string(name_of(role))));
    KP_LET(PromptFile prompt, load_role(file, role));
    set.roles.emplace(role, std::move(prompt));
  }
  for (const LlmRole role : first_roles) {
    const std::string name = file_of(first_name(role));
    if (has_own(own, name) || !has_own(own, file_of(std::string(name_of(role))))) {
      KP_LET(PromptFile prompt, load_role(choose(own, installed, name), role));
      set.first.emplace(role, std::move(prompt));
    }
  }
  for (const std::string& name : part_names()) {
    const fs::path file = choose(own, installed, file_of(name));
    KP_LET(const std::string text, read_file(file));
    KP_LET(std::vector<PromptPiece> part, parse_prompt_part(text, file.string()));
    set.parts.emplace(name, std::move(part));
  }
  return set;
}

}  // namespace kernelpro::agents
