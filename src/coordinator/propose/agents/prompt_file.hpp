// Prompts as files: Markdown with places that sections are put into.
//
//   ---
//   role: coder
//   answer: code
//   ---
//   # system
//   … {{task}} …
//   # user
//   … {{parent}} …
//
// A part is a file of text that prompts share: its front matter is `part: NAME` alone. In both,
// lines between `{{if CONDITION}}` and `{{end}}`, on lines of their own, stand where it holds.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/llm.hpp"

namespace kernelpro::agents {

// What stands between two places, or the name of the section that belongs to a place.
struct PromptPiece {
  bool section = false;
  std::string text;
  // All must hold for it to stand there.
  std::vector<std::string> when = {};  // NOLINT(readability-redundant-member-init)
};

struct PromptFile {
  LlmRole role = LlmRole::planner;
  std::vector<PromptPiece> system;  // sections that are the same in all calls of a run only
  std::vector<PromptPiece> user;
};

struct PromptSet {
  std::map<LlmRole, PromptFile> roles;                    // each role once
  std::map<LlmRole, PromptFile> first;                    // instead, where there is no kernel yet
  std::map<std::string, std::vector<PromptPiece>> parts;  // "contract", "cpu", "cuda"

  // The prompt of a role; `no_kernel`: the parent is a module that PyTorch runs.
  [[nodiscard]] const PromptFile& of(LlmRole role, bool no_kernel) const;
};

// `file` is named in errors: file:line and what was expected.
[[nodiscard]] Result<PromptFile> parse_prompt(const std::string& text, const std::string& file);
[[nodiscard]] Result<std::vector<PromptPiece>> parse_prompt_part(const std::string& text,
                                                                 const std::string& file);

// Every file of `own` that is there, the others from `installed`; an empty `own` is no folder. A
// file in `own` by an unknown name is an error: it would never be read. Whoever has a planner or a
// coder of their own and none for first kernels means the same one for these.
[[nodiscard]] Result<PromptSet> load_prompts(const std::filesystem::path& own,
                                             const std::filesystem::path& installed);

}  // namespace kernelpro::agents
