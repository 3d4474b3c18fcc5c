#include <cstddef>

// y = A x with A in compressed rows.
void spmv(int rows, int cols, const int* row_ptr, const int* col, const double* val,
          const double* x, double* y) {
  (void)cols;
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int k = row_ptr[r]; k < row_ptr[r + 1]; ++k) {
      sum += val[k] * x[col[k]];
    }
    y[r] = sum;
  }
}
