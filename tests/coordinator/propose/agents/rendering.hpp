// Prompts as they are sent, and the files that hold them. KERNELPRO_REWRITE_GOLDEN=1 writes the
// files in golden/ anew: read the difference before you keep it.
#pragma once

#include <cstdlib>
#include <string>

#include "coordinator/propose/agents/fixture.hpp"
#include "coordinator/propose/agents/prompt_file.hpp"
#include "coordinator/propose/agents/render.hpp"

namespace kernelpro::testing {

constexpr std::int64_t plenty = 48'000;

inline agents::PromptSet installed() {
  const Result<agents::PromptSet> set = agents::load_prompts("", prompt_folder);
  EXPECT_TRUE(set.ok()) << set.error().text();
  return *set;
}

inline agents::Plan example_plan() {
  return {"vector_loads", "Let each thread move a float4.", 1.3, "A quarter of the loads.",
          "Tails."};
}

inline agents::Rendered rendered(const Situation& situation, LlmRole role,
                                 std::int64_t most = plenty,
                                 const agents::Plan& plan = example_plan()) {
  const agents::PromptSet prompts = installed();
  Candidate candidate = situation.order.parent;
  candidate.source = "// kp:options -O3\nint kp_launch();\n";
  const agents::Scene scene{&situation.order, &prompts, &plan, &candidate};
  const Result<agents::Rendered> out =
      agents::render(prompts.of(role, has_no_kernel(situation.order)), scene, most);
  EXPECT_TRUE(out.ok()) << out.error().text();
  return out.ok() ? *out : agents::Rendered{};
}

inline std::string whole(const agents::Rendered& text) {
  return "===== system\n" + text.system + "\n===== user\n" + text.user + "\n";
}

inline void expect_golden(const std::string& name, const std::string& text) {
  const std::filesystem::path file = agent_tests / "golden" / (name + ".txt");
  if (std::getenv("KERNELPRO_REWRITE_GOLDEN") != nullptr) {
    ASSERT_TRUE(write_file_unsynced(file, text).ok());
  }
  EXPECT_EQ(text, file_text(file)) << name;
}

}  // namespace kernelpro::testing
