#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "common/wire/json.hpp"
#include "common/wire/samples.hpp"
#include "support/schema.hpp"

namespace kernelpro {
namespace {

using ::testing::HasSubstr;
using testing::SchemaFile;

TEST(TaskJson, ShapesOfCudaSurviveARoundTripAndTheSchema) {
  Task task = testing::sample_task();
  task.shapes_on[Backend::cuda] = {{{"m", 4096}}, {{"m", 4099}}};
  const nlohmann::json written = to_json(task);
  EXPECT_EQ(SchemaFile("task.json").complaints(written), "");
  const Result<Task> read = task_from_json(written);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read->shapes_on, task.shapes_on);
}

TEST(TaskJson, TaskWithoutShapesOfCudaIsWrittenAndHashedAsBeforeTheyExisted) {
  const Task task = testing::sample_task();
  ASSERT_TRUE(task.shapes_on.empty());
  const nlohmann::json written = to_json(task);
  EXPECT_FALSE(written.contains("cuda_shapes"));
  const Result<Task> read = task_from_json(written);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(task_hash(*read), task_hash(task));
}

TEST(TaskJson, ShapesOfCudaCountForTheHash) {
  Task task = testing::sample_task();
  const std::string before = task_hash(task);
  task.shapes_on[Backend::cuda] = {{{"m", 4096}}};
  EXPECT_NE(task_hash(task), before);
}

TEST(TaskJson, EntryAndTrustInTheBaselineSurviveARoundTripAndTheSchema) {
  Task task = testing::sample_task();
  const std::string before = task_hash(task);
  EXPECT_FALSE(to_json(task).contains("entry"));
  task.reference.baseline = true;
  task.entry = EntrySpec{.function = "mine::f",
                         .signature = "void f(float* y, int n, cudaStream_t s)",
                         .backend = Backend::cuda,
                         .arguments = {"y", "n", "stream"},
                         .copies = {{"y", "y_in"}},
                         .workspace = {{"tmp", *Formula::parse("4*m")}}};
  const nlohmann::json written = to_json(task);
  EXPECT_EQ(SchemaFile("task.json").complaints(written), "");
  const Result<Task> read = task_from_json(written);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_TRUE(read->reference.baseline);
  ASSERT_TRUE(read->entry.has_value());
  EXPECT_EQ(read->entry->signature, task.entry->signature);
  EXPECT_EQ(read->entry->arguments, task.entry->arguments);
  EXPECT_EQ(read->entry->copies, task.entry->copies);
  EXPECT_EQ(read->entry->workspace.at("tmp").text(), "4*m");
  EXPECT_EQ(task_hash(*read), task_hash(task));
  EXPECT_NE(task_hash(task), before);
}

TEST(TaskJson, WhatWasSeenOfAModuleSurvivesARoundTripAndTheSchema) {
  Task task = testing::sample_task();
  const std::string before = task_hash(task);
  task.reference.products = 9.5e9;
  task.reference.runs = {"operator addmm: 1 call, 25 % of the operations"};
  task.reference.without_effect = {"norm_running_mean"};
  const nlohmann::json written = to_json(task);
  EXPECT_EQ(SchemaFile("task.json").complaints(written), "");
  const Result<Task> read = task_from_json(written);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read->reference.products, 9.5e9);
  EXPECT_EQ(read->reference.runs, task.reference.runs);
  EXPECT_EQ(read->reference.without_effect, task.reference.without_effect);
  EXPECT_NE(task_hash(*read), before);
}

TEST(TaskJson, WrongShapeOfCudaIsNamed) {
  nlohmann::json written = to_json(testing::sample_task());
  written["cuda_shapes"] = {{{"m", "many"}}};
  EXPECT_THAT(task_from_json(written).error().text(), HasSubstr("cuda_shapes"));
}

}  // namespace
}  // namespace kernelpro
