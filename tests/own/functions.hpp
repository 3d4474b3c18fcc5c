// The functions in `functions`, as `kernelpro optimize` is told of them.
#pragma once

#include <string>
#include <vector>

namespace kernelpro::own_tests {

inline const std::vector<std::string>& functions() {
  static const std::vector<std::string> all = {
      "stencil2d.cpp:heat_step",
      "stencil3d.cpp:laplace3d",
      "csr_spmv.cpp:spmv",
      "csr_spmm.cpp:spmm",
      "fir.cpp:dsp::fir_q15",
      "fft_stage.cpp:butterfly",
      "image_sobel.cpp:sobel",
      "image_gray.cpp:to_gray",
      "histogram.cpp:histogram",
      "small_matrices.cpp:mul4",
      "matrix_struct.cpp:multiply",
      "vector_norm.cpp:rms",
      "vector_smooth.cpp:signal::smooth",
      "span_softmax.cpp:softmax",
      "template_axpy.cpp:axpy<double>",
      "method_lerp.cpp:Blender::blend",
      "dot_return.cpp:dot",
      "minmax_refs.cpp:minmax",
      "nbody.cpp:forces",
      "max_pool.cpp:max_pool",
      "conv_valid.cpp:convolve",
      "omp_saxpy.cpp:triad",
      "layer_norm.c:layer_norm",
      "gather_rows.cpp:lookup",
  };
  return all;
}

}  // namespace kernelpro::own_tests
