// What is learned of a function, for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/task/load.hpp"
#include "own/project.hpp"

namespace kernelpro::own_tests {

inline NewTask sized(std::map<std::string, std::int64_t> sizes) {
  NewTask wishes;
  wishes.sizes = std::move(sizes);
  return wishes;
}

// A user's function as a task.
class LearnedTask : public ::testing::Test {
 protected:
  Task learned(const std::string& file, const std::string& text, const std::string& function,
               NewTask wishes = {}) {
    project_.write(file, text);
    const auto made = project_.make(file + ":" + function, std::move(wishes));
    EXPECT_TRUE(made.ok()) << made.error().text();
    if (!made.ok()) {
      return {};
    }
    const auto task = load_task(made->folder);
    EXPECT_TRUE(task.ok()) << task.error().text();
    return task.ok() ? *task : Task{};
  }

  static const TensorSpec& tensor(const Task& task, const std::string& name) {
    for (const auto* list : {&task.inputs, &task.outputs}) {
      for (const TensorSpec& one : *list) {
        if (one.name == name) {
          return one;
        }
      }
    }
    static const TensorSpec none;
    ADD_FAILURE() << "there is no tensor " << name;
    return none;
  }

  static std::vector<std::string> shape_of(const TensorSpec& tensor) {
    std::vector<std::string> out;
    for (const Formula& extent : tensor.shape) {
      out.push_back(extent.text());
    }
    return out;
  }

 private:
  OwnProject project_;
};

}  // namespace kernelpro::own_tests
