#include "coordinator/propose/agents/render.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "coordinator/llm/token_count.hpp"
#include "coordinator/propose/agents/conditions.hpp"
#include "coordinator/propose/agents/text.hpp"

namespace kernelpro::agents {

namespace {

// Takes the ends of lines off one end.
void trim_lines(std::string& text) {
  while (text.ends_with('\n')) {
    text.pop_back();
  }
}

// A section that says nothing takes its line with it.
std::string compose(const std::vector<PromptPiece>& pieces, const Scene& scene,
                    const Shown& shown) {
  std::string out;
  bool swallow = false;
  for (const PromptPiece& piece : pieces) {
    if (!hold(piece.when, *scene.order)) {
      continue;
    }
    if (piece.section) {
      std::string text = find_section(piece.text)->text(scene, shown);
      trim_lines(text);
      swallow = text.empty() && (out.empty() || out.ends_with('\n'));
      out += text;
    } else {
      const std::size_t from =
          swallow ? std::min(piece.text.find_first_not_of('\n'), piece.text.size()) : 0;
      out += piece.text.substr(from);
      swallow = false;
    }
  }
  return trimmed(out);
}

// The system part takes at most half: a long reference is cut in two until it does. That depends on
// the run alone, so the part stays the same in all its calls.
std::string compose_system(const PromptFile& prompt, const Scene& scene, std::int64_t most_tokens) {
  constexpr std::size_t longest = 1U << 20U;
  constexpr std::size_t shortest = 200;
  Shown shown;
  std::string out = compose(prompt.system, scene, shown);
  for (shown.reference = longest; about_tokens(out) > most_tokens / 2 && shown.reference > shortest;
       shown.reference /= 2) {
    out = compose(prompt.system, scene, shown);
  }
  return out;
}

// The next thing to go; false: nothing more may.
bool shrink(Shown& shown) {
  if (shown.history > 1) {
    --shown.history;
  } else if (shown.siblings > 0) {
    --shown.siblings;
  } else if (shown.lessons > 0) {
    --shown.lessons;
  } else if (shown.memory > 0) {
    --shown.memory;
  } else if (shown.code > 0) {
    --shown.code;
  } else if (shown.example) {
    shown.example = false;
  } else if (shown.findings > 1) {
    --shown.findings;
  } else if (shown.advice) {
    shown.advice = false;
  } else if (shown.moves > 0) {
    --shown.moves;
  } else {
    return false;
  }
  return true;
}

Error too_long(const PromptFile& prompt, const Scene& scene, const Shown& shown,
               std::int64_t tokens, std::int64_t most_tokens) {
  std::vector<std::pair<std::int64_t, std::string>> lengths;
  for (const auto* pieces : {&prompt.system, &prompt.user}) {
    for (const PromptPiece& piece : *pieces) {
      if (piece.section) {
        lengths.emplace_back(about_tokens(find_section(piece.text)->text(scene, shown)),
                             piece.text);
      }
    }
  }
  std::sort(lengths.begin(), lengths.end(), [](const auto& a, const auto& b) {
    return std::tie(b.first, a.second) < std::tie(a.first, b.second);
  });
  std::vector<std::string> longest;
  for (const auto& [length, name] : lengths) {
    if (length > 0) {
      longest.push_back(fmt::format("{} {}", name, length));
    }
  }
  return make_error(
      ErrorKind::bad_input,
      fmt::format("its prompt would have about {} tokens with everything left out that may be, and "
                  "{} are allowed; the sections have: {}. Raise --prompt-tokens",
                  tokens, most_tokens, fmt::join(longest, ", ")),
      fmt::format("the {} of node {}", name_of(prompt.role), scene.order->node));
}

}  // namespace

Result<Rendered> render(const PromptFile& prompt, const Scene& scene, std::int64_t most_tokens) {
  Rendered out;
  out.system = compose_system(prompt, scene, most_tokens);
  const std::int64_t system = about_tokens(out.system);
  Shown shown = everything(scene);
  for (;;) {
    out.user = compose(prompt.user, scene, shown);
    const std::int64_t tokens = system + about_tokens(out.user);
    if (tokens <= most_tokens) {
      out.code = shown.code;
      return out;
    }
    if (!shrink(shown)) {
      return too_long(prompt, scene, shown, tokens, most_tokens);
    }
  }
}

}  // namespace kernelpro::agents
