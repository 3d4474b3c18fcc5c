// kp:hack honest  halves the longer side until a tile fits everywhere, in a thread's own buffer
// kp:task transpose
// kp:expect passed
// kp:twin memory_writes_whole_tiles.cpp
// kp:options -O3 target openmp
//
// Tiles go through memory of the thread; halves are tasks of OpenMP.
#include <kernelpro/candidate.h>

namespace {

constexpr int64_t tile = 32;

struct Matrix {
  int64_t rows;
  int64_t cols;
  const float* A;
  float* B;
};

void move_tile(const Matrix& m, int64_t row, int64_t col, int64_t rows, int64_t cols) {
  thread_local float kept[tile * tile];
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols; ++j) {
      kept[j * tile + i] = m.A[(row + i) * m.cols + col + j];
    }
  }
  for (int64_t j = 0; j < cols; ++j) {
    for (int64_t i = 0; i < rows; ++i) {
      m.B[(col + j) * m.rows + row + i] = kept[j * tile + i];
    }
  }
}

void transpose(const Matrix& m, int64_t row, int64_t col, int64_t rows, int64_t cols) {
  if (rows <= tile && cols <= tile) {
    move_tile(m, row, col, rows, cols);
    return;
  }
  const bool tall = rows > cols;
  const int64_t half = (tall ? rows : cols) / 2;
#pragma omp task default(shared) if (rows * cols > 65536)
  transpose(m, row, col, tall ? half : rows, tall ? cols : half);
  transpose(m, tall ? row + half : row, tall ? col : col + half, tall ? rows - half : rows,
            tall ? cols : cols - half);
#pragma omp taskwait
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Matrix m = {context->axes[0], context->axes[1], static_cast<const float*>(tensors[0].data),
                    static_cast<float*>(tensors[1].data)};
#pragma omp parallel num_threads(context->threads)
#pragma omp single
  transpose(m, 0, 0, m.rows, m.cols);
  return 0;
}
