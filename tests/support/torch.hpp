// Problems in KernelBench's form, for tests that skip where there is no PyTorch.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "common/base/file.hpp"
#include "common/base/python.hpp"

namespace kernelpro::testing {

#define SKIP_WITHOUT_TORCH()                              \
  if (const auto python = python_with_torch(); !python) { \
    GTEST_SKIP() << python.error().text();                \
  }

// The lines that every problem begins with, then `model` (the class's body), inputs and arguments.
inline std::string problem_text(const std::string& model, const std::string& inputs,
                                const std::string& arguments = "[]") {
  return "import torch\nimport torch.nn as nn\n\n\nclass Model(nn.Module):\n" + model +
         "\n\ndef get_inputs():\n    return " + inputs +
         "\n\n\ndef get_init_inputs():\n    return " + arguments + "\n";
}

inline const std::string relu_problem = problem_text(
    "    def forward(self, x):\n        return torch.relu(x)\n", "[torch.randn(40, 1000)]");

inline const std::string linear_problem = problem_text(
    "    def __init__(self, wide, narrow):\n        super().__init__()\n"
    "        self.linear = nn.Linear(wide, narrow)\n        self.norm = nn.BatchNorm1d(narrow)\n\n"
    "    def forward(self, x, factor):\n        y = self.norm(self.linear(x)) * factor\n"
    "        return y, y.argmax(dim=1)\n",
    "[torch.rand(32, 24), 2.5]", "[24, 16]");

// A mask, and one number as the output.
inline const std::string masked_problem =
    problem_text("    def forward(self, x, mask):\n        return torch.mean(x[mask] ** 2)\n",
                 "[torch.randn(500), torch.rand(500) < 0.5]");

// A checkout with that text as problem 7 of level 1.
inline std::filesystem::path make_checkout(const std::filesystem::path& folder,
                                           const std::string& problem) {
  const std::filesystem::path level = folder / "KernelBench" / "level1";
  EXPECT_TRUE(make_directories(level).ok());
  EXPECT_TRUE(write_file_unsynced(level / "7_Made_up.py", problem).ok());
  return folder;
}

}  // namespace kernelpro::testing
