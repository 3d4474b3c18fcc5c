#include <cstddef>

struct Matrix {
  double* data;
  std::size_t rows;
  std::size_t cols;
};

void multiply(const Matrix& a, const Matrix& b, Matrix& c) {
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j < b.cols; ++j) {
      double sum = 0.0;
      for (std::size_t k = 0; k < a.cols; ++k) {
        sum += a.data[i * a.cols + k] * b.data[k * b.cols + j];
      }
      c.data[i * b.cols + j] = sum;
    }
  }
}
