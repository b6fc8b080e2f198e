// Steps on tiles, as the solvers for spectra make them. A tile has a line of 64 bytes for each node: eight
// numbers of double precision or sixteen of single, as many real columns, or the real parts of half as
// many complex ones and then their imaginary parts.
//
//   out(u) ← scale·(g(u)·Σ_v t(u,v)·z(v) + m(u)·z(u)) + keep·out(u) + θ·s(u)
//
// A warp takes a row, a few threads each entry: thread j of them has the numbers j and j + half of a line.
// A row with more than LONG_ROW entries is a block's work. All sums are cut by the length of rows alone.

template <class T> struct TileRows {
    const u64 *offsets;
    const u32 *columns;
    const T *values;       // pairs, by class or by entry
    const T *gain, *own;   // g and m
    const u32 *long_rows;  // as in Rows
    i64 long_count, nodes;
};

template <class T> struct TileStep {
    const T *z, *source; // no source: null
    T *out;
    double scale, keep, theta;
};

template <class T, bool CLASSES, bool COMPLEX>
__device__ void tile_step(const TileRows<T> &rows, const TileStep<T> &step) {
    enum { N = 64 / sizeof(T), HALF = N / 2, AT_ONCE = 32 / HALF, WARPS = 8 };
    __shared__ T table[8];
    __shared__ T sums[WARPS][N];
    if (CLASSES && threadIdx.x < 8) table[threadIdx.x] = rows.values[threadIdx.x];
    __syncthreads();
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, j = lane % HALF, group = lane / HALF;
    bool alone = blockIdx.x >= rows.long_count;
    i64 row = alone ? ((i64)blockIdx.x - rows.long_count) * WARPS + warp : rows.long_rows[2 * blockIdx.x];
    if (row >= rows.nodes) return;
    u64 begin = rows.offsets[row], end = rows.offsets[row + 1];
    if (alone && end - begin > LONG_ROW) return;
    u32 first = alone ? group : warp * AT_ONCE + group, apart = alone ? AT_ONCE : WARPS * AT_ONCE;
    T a = 0, b = 0;
#pragma unroll 4
    for (u64 e = begin + first; e < end; e += apart) {
        u32 packed = __ldg(rows.columns + e);
        const T *x = step.z + (i64)(packed & COLUMN) * N + j;
        T p = __ldg(x), q = __ldg(x + HALF);
        T re = CLASSES ? table[packed >> 30 << 1] : __ldg(rows.values + 2 * e);
        a += re * p;
        b += re * q;
        if (COMPLEX) {
            T im = CLASSES ? table[(packed >> 30 << 1) + 1] : __ldg(rows.values + 2 * e + 1);
            a -= im * q;
            b += im * p;
        }
    }
    for (int far = HALF; far < 32; far *= 2) {
        a += __shfl_xor_sync(0xffffffffu, a, far);
        b += __shfl_xor_sync(0xffffffffu, b, far);
    }
    if (!alone) {
        if (group == 0) {
            sums[warp][j] = a;
            sums[warp][HALF + j] = b;
        }
        __syncthreads();
        a = b = 0;
        for (int other = 0; other < WARPS; other++) {
            a += sums[other][j];
            b += sums[other][HALF + j];
        }
    }
    if (group > 0 || (!alone && warp > 0)) return;
    T gain = rows.gain[row], own = rows.own[row];
    for (int part = 0; part < 2; part++) {
        i64 at = row * N + part * HALF + j;
        T y = (T)step.scale * (gain * (part ? b : a) + own * step.z[at]);
        if (step.keep != 0) y += (T)step.keep * step.out[at];
        if (step.source) y += (T)step.theta * step.source[at];
        step.out[at] = y;
    }
}

// Σ_u w(u)·a(u)·b(u) for every number of a line, over `run` rows a block.
template <class T>
__device__ void tile_inner(const T *weights, const T *a, const T *b, double *parts, i64 nodes, i64 run) {
    enum { N = 64 / sizeof(T), AT_ONCE = 256 / N };
    __shared__ double sums[256];
    int j = threadIdx.x % N;
    i64 end = min(nodes, (blockIdx.x + 1) * run);
    double sum = 0;
    for (i64 u = blockIdx.x * run + threadIdx.x / N; u < end; u += AT_ONCE)
        sum += (double)weights[u] * (double)a[u * N + j] * (double)b[u * N + j];
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x >= N) return;
    for (int group = 1; group < AT_ONCE; group++) sum += sums[group * N + j];
    parts[blockIdx.x * N + j] = sum;
}

// The parts of the blocks, in order.
extern "C" __global__ void tile_inner_sum(const double *parts, i64 count, i64 width, double *out) {
    if (threadIdx.x >= width) return;
    double sum = 0;
    for (i64 k = 0; k < count; k++) sum += parts[k * width + threadIdx.x];
    out[threadIdx.x] = sum;
}

#define TILE_STEP(T, classes, complex, name)                                                              \
    extern "C" __global__ void __launch_bounds__(256) tile_step_##name(TileRows<T> rows, TileStep<T> step) { \
        tile_step<T, classes, complex>(rows, step);                                                       \
    }

#define TILES(T, name)                                                                                   \
    TILE_STEP(T, true, false, classes_real_##name)                                                        \
    TILE_STEP(T, true, true, classes_complex_##name)                                                      \
    TILE_STEP(T, false, false, pairs_real_##name)                                                         \
    TILE_STEP(T, false, true, pairs_complex_##name)                                                       \
    extern "C" __global__ void tile_inner_##name(const T *weights, const T *a, const T *b, double *parts, i64 nodes, i64 run) { \
        tile_inner<T>(weights, a, b, parts, nodes, run);                                                  \
    }

TILES(float, f32)
TILES(double, f64)

// Σ_u w(u)·a(u)ᵀb(u), all 64 products of the numbers of two lines, of each of many tiles with one: over
// `run` rows a block, whose sums are put together in order. Sixteen threads share a row, each with two by two.
extern "C" __global__ void __launch_bounds__(256) tile_products(const double *weights, const double *const *many, const double *one, double *parts, i64 nodes, i64 run) {
    __shared__ double sums[16][64];
    const double *tile = many[blockIdx.y];
    int group = threadIdx.x / 16, i = threadIdx.x % 16 / 4 * 2, j = threadIdx.x % 4 * 2;
    i64 end = min(nodes, (blockIdx.x + 1) * run);
    double sum[2][2] = {{0, 0}, {0, 0}};
    for (i64 u = blockIdx.x * run + group; u < end; u += 16) {
        double w = weights[u];
        double2 a = *(const double2 *)(tile + u * 8 + i), b = *(const double2 *)(one + u * 8 + j);
        a.x *= w;
        a.y *= w;
        sum[0][0] += a.x * b.x;
        sum[0][1] += a.x * b.y;
        sum[1][0] += a.y * b.x;
        sum[1][1] += a.y * b.y;
    }
    for (int r = 0; r < 2; r++)
        for (int c = 0; c < 2; c++) sums[group][(i + r) * 8 + j + c] = sum[r][c];
    __syncthreads();
    if (threadIdx.x >= 64) return;
    double total = 0;
    for (int k = 0; k < 16; k++) total += sums[k][threadIdx.x];
    parts[((i64)blockIdx.x * gridDim.y + blockIdx.y) * 64 + threadIdx.x] = total;
}

extern "C" __global__ void tile_products_sum(const double *parts, i64 count, i64 width, double *out) {
    i64 at = index();
    if (at >= width) return;
    double sum = 0;
    for (i64 k = 0; k < count; k++) sum += parts[k * width + at];
    out[at] = sum;
}

#define AT_HAND 64 // tiles

// out(u) ← keep·out(u) + Σ a(u)·block over many tiles; eight threads share a row.
extern "C" __global__ void __launch_bounds__(256) tile_combine(const double *const *many, const double *blocks, i64 tiles, double keep, double *out, i64 nodes) {
    __shared__ double block[AT_HAND * 64];
    for (int k = threadIdx.x; k < tiles * 64; k += 256) block[k] = blocks[k];
    __syncthreads();
    int j = threadIdx.x % 8;
    for (i64 u = (i64)blockIdx.x * 32 + threadIdx.x / 8; u < nodes; u += (i64)gridDim.x * 32) {
        double sum = keep == 0.0 ? 0.0 : keep * out[u * 8 + j];
        for (i64 t = 0; t < tiles; t++) {
            const double2 *line = (const double2 *)(many[t] + u * 8);
            const double *column = block + t * 64 + j;
#pragma unroll
            for (int i = 0; i < 4; i++) {
                double2 a = __ldg(line + i);
                sum += a.x * column[i * 16];
                sum += a.y * column[i * 16 + 8];
            }
        }
        out[u * 8 + j] = sum;
    }
}
