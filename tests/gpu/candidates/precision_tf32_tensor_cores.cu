// kp:hack 18  tensor cores in TF32
// kp:task rows
// kp:expect incorrect precision
//
// Sixteen rows at a time against x in the first of sixteen columns.
#include <mma.h>

#include "rows.cuh"

namespace {

using namespace nvcuda;
using A = wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major>;
using B = wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major>;

__global__ void multiply(Call call) {
  __shared__ float a_tile[16 * 8];
  __shared__ float b_tile[8 * 16];
  __shared__ float c_tile[16 * 16];
  const int first_row = static_cast<int>(blockIdx.x) * 16;
  const int lane = static_cast<int>(threadIdx.x);
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> sums;
  wmma::fill_fragment(sums, 0.0F);
  for (int j = 0; j < call.k; j += 8) {
    for (int t = lane; t < 16 * 8; t += 32) {
      const int row = first_row + t / 8;
      const int column = j + t % 8;
      const bool inside = row < call.m && column < call.k;
      a_tile[t] = inside ? call.weights[int64_t{row} * call.k + column] : 0.0F;
      b_tile[t] = t % 16 == 0 && j + t / 16 < call.k ? call.x[j + t / 16] : 0.0F;
    }
    __syncwarp();
    A a;
    B b;
    wmma::load_matrix_sync(a, a_tile, 8);
    wmma::load_matrix_sync(b, b_tile, 16);
    for (float& value : a.x) {
      value = wmma::__float_to_tf32(value);
    }
    for (float& value : b.x) {
      value = wmma::__float_to_tf32(value);
    }
    wmma::mma_sync(sums, a, b, sums);
    __syncwarp();
  }
  wmma::store_matrix_sync(c_tile, sums, 16, wmma::mem_row_major);
  __syncwarp();
  if (lane < 16 && first_row + lane < call.m) {
    call.y[first_row + lane] = c_tile[lane * 16];
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  multiply<<<(call.m + 15) / 16, 32, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
