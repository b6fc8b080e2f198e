// Sparse rows times a block of rows, with the rest of a recurrence's step in the same pass:
//
//   y(u) = α·l(u)·Σ_v t(u,v)·x(v) + (α·m(u) + β)·x(u) + γ·w(u) + θ·s(u)
//
// A few threads share a row, each with its own columns; the neighbours pass by in order. Rows with many
// entries are cut into segments, each a block's work, whose sums meet in a second pass, in order: the
// cuts depend on the rows alone.

#define COLUMN 0x3fffffffu
#define LONG_ROW 256
#define SEGMENT 512
#define GATHER_BLOCK 128 // threads of a block

struct Rows {
    const u64 *offsets;
    const u32 *columns;
    const float *values;   // by entry: t, pairs for complex ones, or what multiplies the value of a class
    const u32 *places;     // where the value of an entry lies, if elsewhere
    const float *left;     // l, or null for 1
    const float *own;      // m, or null for 0
    const u32 *segment_rows; // the row of each segment of the rows with more than LONG_ROW entries
    const u64 *segments;   // where each segment begins
    const u32 *long_rows;  // those rows, and the first segment of each
    i64 values_lane;
    i64 offsets_lane, columns_lane, segments_lane, long_lane; // where lanes have rows of their own, else 0
    i64 segment_count, long_count;
    float table[8];        // by class: four complex numbers
};

struct Step_ {
    float alpha, beta, gamma, theta;
};

struct Block {
    Given x;
    Given last, source; // w and s; null for none
    Matrix y;
    Matrix partial;     // sums of segments, a row of y for each
    i64 x_rows, y_rows; // rows of x that are there, rows of y that are wanted
    i64 width;          // numbers in a row of x
    int threads;        // that share a row: a power of two
    int limited;        // whether x lacks rows that entries point to
};

enum { CLASSES, SCALED, PAIRS, VALUES, PLACED };
enum { REAL, COMPLEX, TO_REAL, FROM_REAL };

template <int V> struct Numbers {
    float at[V];
    __device__ static Numbers load(const float *from) {
        Numbers numbers;
        if (V == 4) *(float4 *)numbers.at = __ldg((const float4 *)from);
        else if (V == 2) *(float2 *)numbers.at = __ldg((const float2 *)from);
        else numbers.at[0] = __ldg(from);
        return numbers;
    }
};

template <int FIELD, int V> struct Sum {
    enum { OUT = FIELD == TO_REAL ? V / 2 : FIELD == FROM_REAL ? 2 * V : V };
    float at[OUT];
    __device__ void clear() {
        for (int i = 0; i < OUT; i++) at[i] = 0.0f;
    }
    __device__ void add(float2 c, Numbers<V> x) {
        if (FIELD == REAL)
            for (int i = 0; i < V; i++) at[i] += c.x * x.at[i];
        else if (FIELD == COMPLEX)
            for (int i = 0; i + 1 < V; i += 2) {
                at[i] += c.x * x.at[i];
                at[i] -= c.y * x.at[i + 1];
                at[i + 1] += c.x * x.at[i + 1];
                at[i + 1] += c.y * x.at[i];
            }
        else if (FIELD == TO_REAL)
            for (int i = 0; i + 1 < V; i += 2) {
                at[i / 2] += c.x * x.at[i];
                at[i / 2] -= c.y * x.at[i + 1];
            }
        else
            for (int i = 0; i < V; i++) {
                at[2 * i] += c.x * x.at[i];
                at[2 * i + 1] += c.y * x.at[i];
            }
    }
};

// Lists of a lane. Those over edges are common to all lanes, and cost nothing here.
template <int KIND, class T> __device__ __forceinline__ const T *of_lane(const T *list, i64 lane) {
    return KIND == VALUES || KIND == PLACED ? list + blockIdx.z * lane : list;
}

template <int KIND> __device__ __forceinline__ float2 coefficient(const Rows &rows, const float *values, const float2 *table, u64 e, u32 packed) {
    if (KIND == PAIRS) return __ldg((const float2 *)values + e);
    if (KIND == VALUES || KIND == PLACED)
        return make_float2(__ldg(values + (KIND == PLACED ? __ldg(of_lane<KIND>(rows.places, rows.columns_lane) + e) : e)), 0.0f);
    float2 c = table[packed >> 30];
    if (KIND == SCALED) {
        float factor = __ldg(values + e);
        c.x *= factor;
        c.y *= factor;
    }
    return c;
}

// The entries from `begin` to `end`, one in `step`.
template <int KIND, int FIELD, int V>
__device__ __forceinline__ void gather_entries(const Rows &rows, const Block &block, const float *values, const float2 *table, u64 begin, u64 end, u32 step, const float *x, Sum<FIELD, V> &sum) {
    // Few at a time where there are many rows: warps beside each other hide more than loads behind each
    // other. Sparse features have few rows and long ones, and leave a card idle otherwise.
    enum { AT_ONCE = KIND == VALUES || KIND == PLACED ? 8 : 2 };
    u64 e = begin;
    const u32 *columns = of_lane<KIND>(rows.columns, rows.columns_lane);
    if (!block.limited)
        for (; e + (AT_ONCE - 1) * step < end; e += AT_ONCE * step) {
            u32 packed[AT_ONCE];
            Numbers<V> numbers[AT_ONCE];
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++) packed[i] = __ldg(columns + e + i * step);
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++) numbers[i] = Numbers<V>::load(x + (i64)(packed[i] & COLUMN) * block.width);
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++) sum.add(coefficient<KIND>(rows, values, table, e + i * step, packed[i]), numbers[i]);
        }
    for (; e < end; e += step) {
        u32 packed = __ldg(columns + e);
        if ((packed & COLUMN) >= block.x_rows) break; // columns ascend
        sum.add(coefficient<KIND>(rows, values, table, e, packed), Numbers<V>::load(x + (i64)(packed & COLUMN) * block.width));
    }
}

// Numbers that lie together, moved together.
template <int N> __device__ __forceinline__ void move_numbers(const float *from, float *to) {
    if (N % 4 == 0)
        for (int i = 0; i < N; i += 4) *(float4 *)(to + i) = *(const float4 *)(from + i);
    else if (N % 2 == 0)
        for (int i = 0; i < N; i += 2) *(float2 *)(to + i) = *(const float2 *)(from + i);
    else
        for (int i = 0; i < N; i++) to[i] = from[i];
}

// Where the columns from `at` on of a row of y lie.
template <int FIELD> __device__ __forceinline__ i64 place_in(i64 row, i64 width, i64 at) {
    return FIELD == TO_REAL ? row * (width / 2) + at / 2 : FIELD == FROM_REAL ? 2 * (row * width + at) : row * width + at;
}

// What happens at the end of a row, for the columns from `at` on.
template <int FIELD, int V>
__device__ __forceinline__ void finish_row(const Rows &rows, const Block &block, const Step_ &step, i64 row, i64 at, Sum<FIELD, V> &sum) {
    enum { OUT = Sum<FIELD, V>::OUT };
    i64 place = place_in<FIELD>(row, block.width, at);
    float scale = step.alpha * (rows.left ? rows.left[row] : 1.0f);
    float own = (rows.own ? step.alpha * rows.own[row] : 0.0f) + step.beta;
    for (int i = 0; i < OUT; i++) sum.at[i] *= scale;
    if (own != 0.0f && row < block.x_rows) {
        Numbers<V> x = Numbers<V>::load(block.x.here() + row * block.width + at);
        for (int i = 0; i < OUT; i++) {
            if (FIELD == REAL || FIELD == COMPLEX) sum.at[i] += own * x.at[i];
            else if (FIELD == TO_REAL) sum.at[i] += own * x.at[2 * i];
            else if (i % 2 == 0) sum.at[i] += own * x.at[i / 2];
        }
    }
    float other[OUT];
    if (block.last.at) {
        move_numbers<OUT>(block.last.here() + place, other);
        for (int i = 0; i < OUT; i++) sum.at[i] += step.gamma * other[i];
    }
    if (block.source.at) {
        move_numbers<OUT>(block.source.here() + place, other);
        for (int i = 0; i < OUT; i++) sum.at[i] += step.theta * other[i];
    }
    float *to = block.y.here() + place;
    // Nobody reads it before the pass is over; caches are for rows of x.
    if (OUT % 4 == 0)
        for (int i = 0; i < OUT; i += 4) __stcs((float4 *)(to + i), *(const float4 *)(sum.at + i));
    else move_numbers<OUT>(sum.at, to);
}

template <int KIND> __device__ __forceinline__ const float2 *shared_table(const Rows &rows) {
    __shared__ float2 table[4];
    if (KIND == CLASSES || KIND == SCALED) {
        // One thread, with places that are known: others would put all of `rows` into memory of their own.
        if (threadIdx.x == 0)
#pragma unroll
            for (int k = 0; k < 4; k++) table[k] = make_float2(rows.table[2 * k], rows.table[2 * k + 1]);
        __syncthreads();
    }
    return table;
}

// The first blocks take a segment each, the others as many rows as their threads suffice for.
template <int KIND, int FIELD, int V> __device__ void gather_rows(const Rows &rows, const Block &block, const Step_ &step) {
    typedef Sum<FIELD, V> S;
    __shared__ float sums[GATHER_BLOCK * S::OUT];
    const float2 *table = shared_table<KIND>(rows);
    const float *values = rows.values + blockIdx.z * rows.values_lane;
    const u64 *offsets = of_lane<KIND>(rows.offsets, rows.offsets_lane);
    i64 at = ((i64)blockIdx.y * block.threads + threadIdx.x % block.threads) * V;
    S sum;
    sum.clear();
    if (blockIdx.x >= rows.segment_count) {
        i64 row = ((blockIdx.x - rows.segment_count) * (i64)blockDim.x + threadIdx.x) / block.threads;
        if (row >= block.y_rows || at >= block.width) return;
        u64 begin = offsets[row], end = offsets[row + 1];
        if (end - begin > LONG_ROW) return;
        gather_entries<KIND>(rows, block, values, table, begin, end, 1, block.x.here() + at, sum);
        finish_row(rows, block, step, row, at, sum);
        return;
    }
    i64 row = of_lane<KIND>(rows.segment_rows, rows.segments_lane)[blockIdx.x];
    if (row >= block.y_rows) return;
    // Sums that the segment is cut into, however many columns there are.
    int group = threadIdx.x / block.threads, groups = blockDim.x / 32;
    u64 begin = of_lane<KIND>(rows.segments, rows.segments_lane)[blockIdx.x];
    u64 end = min(begin + SEGMENT, offsets[row + 1]);
    if (group < groups && at < block.width) gather_entries<KIND>(rows, block, values, table, begin + group, end, groups, block.x.here() + at, sum);
    for (int i = 0; i < S::OUT; i++) sums[i * GATHER_BLOCK + threadIdx.x] = sum.at[i];
    __syncthreads();
    if (group > 0 || at >= block.width) return;
    for (int other = 1; other < groups; other++)
        for (int i = 0; i < S::OUT; i++) sum.at[i] += sums[i * GATHER_BLOCK + threadIdx.x + other * block.threads];
    move_numbers<S::OUT>(sum.at, block.partial.here() + place_in<FIELD>(blockIdx.x, block.width, at));
}

// The sums of the segments of each long row.
template <int FIELD, int V> __device__ void gather_long(const Rows &rows, const Block &block, const Step_ &step) {
    typedef Sum<FIELD, V> S;
    i64 number = index() / block.threads;
    i64 at = ((i64)blockIdx.y * block.threads + threadIdx.x % block.threads) * V;
    if (number >= rows.long_count || at >= block.width) return;
    const u32 *long_rows = rows.long_rows + blockIdx.z * rows.long_lane;
    i64 row = long_rows[2 * number], first = long_rows[2 * number + 1];
    if (row >= block.y_rows) return;
    const u64 *offsets = rows.offsets + blockIdx.z * rows.offsets_lane;
    i64 count = (offsets[row + 1] - offsets[row] + SEGMENT - 1) / SEGMENT;
    S sum, part;
    sum.clear();
    for (i64 k = first; k < first + count; k++) {
        move_numbers<S::OUT>(block.partial.here() + place_in<FIELD>(k, block.width, at), part.at);
        for (int i = 0; i < S::OUT; i++) sum.at[i] += part.at[i];
    }
    finish_row(rows, block, step, row, at, sum);
}

#define GATHER(kind, field, v, name)                                                                         \
    extern "C" __global__ void __launch_bounds__(GATHER_BLOCK, kind == VALUES || kind == PLACED ? 6 : field == FROM_REAL ? 12 : 16) gather_##name(Rows rows, Block block, Step_ step) {    \
        gather_rows<kind, field, v>(rows, block, step);                                                      \
    }

#define GATHER_LONG(field, v, name)                                                                          \
    extern "C" __global__ void __launch_bounds__(GATHER_BLOCK) gather_long_##name(Rows rows, Block block, Step_ step) { \
        gather_long<field, v>(rows, block, step);                                                            \
    }

GATHER_LONG(REAL, 1, real_1)
GATHER_LONG(REAL, 4, real_4)
GATHER_LONG(COMPLEX, 2, complex_2)
GATHER_LONG(COMPLEX, 4, complex_4)
GATHER_LONG(TO_REAL, 2, to_real_2)
GATHER_LONG(TO_REAL, 4, to_real_4)
GATHER_LONG(FROM_REAL, 1, from_real_1)
GATHER_LONG(FROM_REAL, 4, from_real_4)

GATHER(CLASSES, REAL, 1, classes_real_1)
GATHER(CLASSES, REAL, 4, classes_real_4)
GATHER(CLASSES, COMPLEX, 2, classes_complex_2)
GATHER(CLASSES, COMPLEX, 4, classes_complex_4)
GATHER(CLASSES, TO_REAL, 2, classes_to_real_2)
GATHER(CLASSES, TO_REAL, 4, classes_to_real_4)
GATHER(CLASSES, FROM_REAL, 1, classes_from_real_1)
GATHER(CLASSES, FROM_REAL, 4, classes_from_real_4)
GATHER(SCALED, REAL, 1, scaled_real_1)
GATHER(SCALED, REAL, 4, scaled_real_4)
GATHER(SCALED, COMPLEX, 2, scaled_complex_2)
GATHER(SCALED, COMPLEX, 4, scaled_complex_4)
GATHER(SCALED, TO_REAL, 2, scaled_to_real_2)
GATHER(SCALED, TO_REAL, 4, scaled_to_real_4)
GATHER(SCALED, FROM_REAL, 1, scaled_from_real_1)
GATHER(SCALED, FROM_REAL, 4, scaled_from_real_4)
GATHER(PAIRS, REAL, 1, pairs_real_1)
GATHER(PAIRS, REAL, 4, pairs_real_4)
GATHER(PAIRS, COMPLEX, 2, pairs_complex_2)
GATHER(PAIRS, COMPLEX, 4, pairs_complex_4)
GATHER(PAIRS, TO_REAL, 2, pairs_to_real_2)
GATHER(PAIRS, TO_REAL, 4, pairs_to_real_4)
GATHER(PAIRS, FROM_REAL, 1, pairs_from_real_1)
GATHER(PAIRS, FROM_REAL, 4, pairs_from_real_4)
GATHER(VALUES, REAL, 1, values_real_1)
GATHER(VALUES, REAL, 4, values_real_4)
GATHER(PLACED, REAL, 1, placed_real_1)
GATHER(PLACED, REAL, 4, placed_real_4)

// Rows times a number for each, as before and after a recurrence: y(u) = f(u)·x(u), or x(u)/f(u).
extern "C" __global__ void scale_rows(const float *factors, int divide, Given x, Matrix y, i64 width, i64 n) {
    const float *in = x.here();
    float *out = y.here();
    for (i64 i = index(); i < n; i += stride()) {
        float factor = factors[i / width];
        out[i] = divide ? in[i] / factor : in[i] * factor;
    }
}
