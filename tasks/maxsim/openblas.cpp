// sgemm gives all products of the query with one document, which stay in cache for the search. Each
// thread has documents of its own and calls a single-threaded sgemm.
#include <cblas.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "kernelpro/candidate.h"

namespace {

float score_of(int64_t query_tokens, int64_t tokens, int64_t d, const float* query,
               const float* document, float* products) {
  const auto rows = static_cast<blasint>(query_tokens);
  const auto columns = static_cast<blasint>(tokens);
  const auto inner = static_cast<blasint>(d);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, columns, inner, 1.0F, query, inner,
              document, inner, 0.0F, products, columns);
  float total = 0.0F;
  for (int64_t q = 0; q < query_tokens; ++q) {
    const float* row = products + q * tokens;
    total += *std::max_element(row, row + tokens);
  }
  return total;
}

}  // namespace

size_t kp_workspace(const kp_context* context, const kp_tensor* /*tensors*/, int32_t /*count*/) {
  return static_cast<size_t>(context->threads * context->axes[0] * context->axes[2]) *
         sizeof(float);
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 3 || context->workspace_bytes < kp_workspace(context, tensors, count)) {
    return 1;
  }
  const int64_t query_tokens = context->axes[0];
  const int64_t documents = context->axes[1];
  const int64_t tokens = context->axes[2];
  const int64_t d = context->axes[3];
  const int64_t threads = context->threads;
  const auto* query = static_cast<const float*>(tensors[0].data);
  const auto* document = static_cast<const float*>(tensors[1].data);
  auto* score = static_cast<float*>(tensors[2].data);
  auto* workspace = static_cast<float*>(context->workspace);
  openblas_set_num_threads(1);
#pragma omp parallel for schedule(static, 1) num_threads(context->threads)
  for (int64_t t = 0; t < threads; ++t) {
    for (int64_t b = t; b < documents; b += threads) {
      score[b] = score_of(query_tokens, tokens, d, query, document + b * tokens * d,
                          workspace + t * query_tokens * tokens);
    }
  }
  return 0;
}

const char* kp_implementation(void) {
  static const std::string name =
      std::string(openblas_get_config()) + ", core " + openblas_get_corename();
  return name.c_str();
}
