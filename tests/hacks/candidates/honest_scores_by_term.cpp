// kp:hack honest  goes through the index term by term, and adds to the documents' scores
// kp:task sparse_scores
// kp:expect passed
// kp:twin meaning_norm_of_common_documents.cpp
// kp:options -O3 target
//
// Prepares the lists of the terms; terms of weight zero cost nothing. So terms are summed in
// another order than the baseline's where documents have them.
#include <kernelpro/candidate.h>

#include <algorithm>

namespace {

struct Posting {
  int32_t document;
  float tf;
  float norm;
};

struct Lists {
  int64_t* first;  // of each term, and the end
  Posting* postings;
};

Lists lists_of(const kp_context* context) {
  auto* first = static_cast<int64_t*>(context->state);
  return {first, reinterpret_cast<Posting*>(first + context->axes[1] + 1)};
}

}  // namespace

extern "C" size_t kp_state(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[1] + 1) * sizeof(int64_t) +
         static_cast<size_t>(context->axes[3]) * sizeof(Posting);
}

extern "C" int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t terms = context->axes[1];
  const auto* starts = static_cast<const int32_t*>(tensors[0].data);
  const auto* term = static_cast<const int32_t*>(tensors[1].data);
  const auto* tf = static_cast<const float*>(tensors[2].data);
  const auto* norm = static_cast<const float*>(tensors[3].data);
  const Lists lists = lists_of(context);
  std::fill_n(lists.first, terms + 1, 0);
  for (int64_t p = 0; p < context->axes[3]; ++p) {
    ++lists.first[term[p] + 1];
  }
  for (int64_t t = 0; t < terms; ++t) {
    lists.first[t + 1] += lists.first[t];
  }
  for (int64_t d = 0; d < context->axes[0]; ++d) {
    for (int32_t p = starts[d]; p < starts[d + 1]; ++p) {
      lists.postings[lists.first[term[p]]++] = {static_cast<int32_t>(d), tf[p], norm[d]};
    }
  }
  std::copy_backward(lists.first, lists.first + terms, lists.first + terms + 1);
  lists.first[0] = 0;
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto k = static_cast<float>(context->scalars[0]);
  const auto* weight = static_cast<const float*>(tensors[4].data);
  auto* score = static_cast<float*>(tensors[5].data);
  const Lists lists = lists_of(context);
  std::fill_n(score, context->axes[0], 0.0F);
  for (int64_t t = 0; t < context->axes[1]; ++t) {
    if (weight[t] == 0) {
      continue;
    }
    for (int64_t at = lists.first[t]; at < lists.first[t + 1]; ++at) {
      const Posting& one = lists.postings[at];
      score[one.document] += weight[t] * one.tf / (one.tf + k * one.norm);
    }
  }
  return 0;
}
