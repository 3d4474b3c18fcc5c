#include "coordinator/app/own_layout.hpp"

#include <gtest/gtest.h>

#include <string>

namespace kernelpro {
namespace {

const std::string parallel_copy =
    "void f(const float* x, float* y, int n) {\n"
    "#pragma omp parallel for schedule(static)\n"
    "  for (int i = 0; i < n; ++i) {\n    y[i] = x[i];\n  }\n}\n";

// The `for` of the pragma is not the one behind the comment.
TEST(OwnLayout, CommentsOfALoopStayWhenItBecomesParallel) {
  EXPECT_EQ(in_layout_of("void f(const float* x, float* y, int n) {  // Copies.\n"
                         "  // Each element.\n"
                         "  for (int i = 0 /* the first */; i < n; ++i)  // up to n\n"
                         "    y[i] = x[i];\n}\n",
                         parallel_copy),
            "void f(const float* x, float* y, int n) {  // Copies.\n"
            "  // Each element.\n"
            "#pragma omp parallel for schedule(static)\n"
            "  for (int i = 0 /* the first */; i < n; ++i)  // up to n\n"
            "    y[i] = x[i];\n}\n");
}

TEST(OwnLayout, ACommentOnTheLineOfALoopStaysBeforeIt) {
  EXPECT_EQ(in_layout_of("void f(const float* x, float* y, int n) { /* each */ for (int i = 0;\n"
                         "    i < n; ++i) y[i] = x[i];\n}\n",
                         parallel_copy),
            "void f(const float* x, float* y, int n) {\n"
            "#pragma omp parallel for schedule(static)\n"
            " /* each */ for (int i = 0;\n"
            "    i < n; ++i) y[i] = x[i];\n}\n");
}

}  // namespace
}  // namespace kernelpro
