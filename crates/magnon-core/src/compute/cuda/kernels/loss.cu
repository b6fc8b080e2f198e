// Negative log likelihood, the optimiser, and what decides over a replayed epoch.

struct Score {
    double loss;
    u64 right;
};

// Rows and classes; `lane` pairs lie between those of one lane and the next.
struct Targets {
    const uint2 *at;
    i64 lane, count;
    __device__ const uint2 *here() const { return at + blockIdx.z * lane; }
};

// Mean over the targets (row, class), and how many have their largest entry at the target. One block
// for each lane; the place is the clock's where steps are replayed.
extern "C" __global__ void nll_loss(Given given, Targets all, i64 cols, Score *scores, const u32 *clock, i64 slot, i64 slots, u32 base, u32 room) {
    const float *y = given.here();
    const uint2 *targets = all.here();
    i64 count = all.count;
    double sum = 0.0;
    u64 right = 0;
    for (i64 i = threadIdx.x; i < count; i += blockDim.x) {
        uint2 target = targets[i];
        const float *row = y + (i64)target.x * cols;
        i64 best = 0;
        for (i64 j = 1; j < cols; j++) best = row[j] > row[best] ? j : best;
        sum -= (double)row[target.y];
        right += best == target.y;
    }
    sum = block_sum(sum);
    right = block_sum(right);
    if (threadIdx.x == 0) {
        i64 epoch = clock ? (*clock - base) % room : 0;
        Score *score = scores + (epoch * slots + slot) * gridDim.z + blockIdx.z;
        score->loss = sum / (double)(count > 0 ? count : 1);
        score->right = right;
    }
}

extern "C" __global__ void nll_loss_gradient(Given given, Targets all, i64 cols, Matrix gradient) {
    const float *y = given.here();
    const uint2 *targets = all.here();
    i64 count = all.count;
    float *dx = gradient.here();
    float scale = (float)(1.0 / (double)(count > 0 ? count : 1));
    for (i64 i = index(); i < count * cols; i += stride()) {
        uint2 target = targets[i / cols];
        i64 column = i % cols, at = (i64)target.x * cols + column;
        float value = scale * expf(y[at]);
        dx[at] = column == target.y ? value - scale : value;
    }
}

// Sums of squares of one gradient, added up in order.
extern "C" __global__ void add_squares(const double *parts, i64 count, int add, double *totals) {
    if (threadIdx.x > 0) return;
    const double *own = parts + blockIdx.z * count;
    double sum = 0.0;
    for (i64 k = 0; k < count; k++) sum += own[k];
    totals[blockIdx.z] = add ? totals[blockIdx.z] + sum : sum;
}

// What gradients of that square are multiplied with, for a norm of `most` at most.
extern "C" __global__ void clip_factor(const double *totals, double most, Matrix factor) {
    if (threadIdx.x > 0) return;
    double norm = sqrt(totals[blockIdx.z]);
    *factor.here() = norm > most ? (float)(most / norm) : 1.0f;
}

struct Step {
    float rate, correction, first, other_first, second, other_second, epsilon;
};

// The numbers of a coming step.
struct Coming {
    double rate, correction, l2, shrink;
};

// One of the matrices that are trained; `blocks` of the launch are before its own.
struct Trained {
    Given gradient;
    Matrix weights, first, second;
    i64 n, blocks;
    double decays; // what l2 is multiplied with
    float l2, shrink;
};

#define AT_A_TIME 8 // matrices

struct AllTrained {
    Trained of[AT_A_TIME];
    i64 count;
};

#define TRAINED_EACH 4 // numbers of a thread

// One step of Adam on several matrices; what changes from step to step stands in a list by the clock where
// steps are replayed, lane by lane.
extern "C" __global__ void adam(Step step, const Coming *schedule, const u32 *clock, u32 base, u32 room, Given clip, const __grid_constant__ AllTrained all) {
    int k = 0;
    while (k + 1 < all.count && blockIdx.x >= all.of[k + 1].blocks) k++;
    const Trained &one = all.of[k];
    const float *grad = one.gradient.here();
    float *w = one.weights.here(), *m = one.first.here(), *v = one.second.here();
    float rate = step.rate, correction = step.correction, l2 = one.l2, shrink = one.shrink;
    float factor = clip.at ? *clip.here() : 1.0f;
    if (clock) {
        const Coming &now = schedule[(i64)((*clock - base) % room) * gridDim.z + blockIdx.z];
        rate = (float)now.rate;
        correction = (float)now.correction;
        // As the host computes them, each product rounded by itself.
        l2 = (float)__dmul_rn(one.decays, now.l2);
        shrink = (float)(one.decays == 1.0 ? now.shrink : __dsub_rn(1.0, __dmul_rn(one.decays, __dsub_rn(1.0, now.shrink))));
    }
    i64 first = (blockIdx.x - one.blocks) * TRAINED_EACH * (i64)blockDim.x + threadIdx.x;
    for (int each = 0; each < TRAINED_EACH; each++) {
        i64 i = first + each * (i64)blockDim.x;
        if (i >= one.n) return;
        float g = factor * grad[i] + l2 * w[i];
        m[i] = step.first * m[i] + step.other_first * g;
        v[i] = step.second * v[i] + step.other_second * g * g;
        w[i] = shrink * w[i] - rate * m[i] / (sqrtf(v[i]) * correction + step.epsilon);
    }
}

struct Verdict {
    double best;
    u64 epoch;
    u32 improved, over;
};

// After the validation rows of an epoch went through: whether it is the best of its lane so far, and
// whether the lane has stopped. Nothing is judged before the first step.
extern "C" __global__ void judge(const Score *scores, const u32 *clock, i64 slot, i64 slots, u32 base, u32 room, u32 patience, Verdict *verdicts, i64 lanes) {
    i64 lane = index();
    if (lane >= lanes) return;
    Verdict *verdict = verdicts + lane;
    u64 epoch = *clock;
    double loss = scores[((*clock - base) % room * slots + slot) * lanes + lane].loss;
    bool counts = *clock > base && !verdict->over;
    verdict->improved = counts && loss < verdict->best;
    if (verdict->improved) {
        verdict->best = loss;
        verdict->epoch = epoch;
    }
    if (counts && epoch - verdict->epoch >= patience) verdict->over = 1;
}

// Keeps the weights of lanes that improved: of several matrices, from the gradient's place to the weights' of each.
extern "C" __global__ void keep_best(const Verdict *verdicts, const __grid_constant__ AllTrained all) {
    if (!verdicts[blockIdx.z].improved) return;
    int k = 0;
    while (k + 1 < all.count && blockIdx.x >= all.of[k + 1].blocks) k++;
    const Trained &one = all.of[k];
    const float *from = one.gradient.here();
    float *to = one.weights.here();
    i64 first = (blockIdx.x - one.blocks) * TRAINED_EACH * (i64)blockDim.x + threadIdx.x;
    for (int each = 0; each < TRAINED_EACH; each++) {
        i64 i = first + each * (i64)blockDim.x;
        if (i < one.n) to[i] = from[i];
    }
}

extern "C" __global__ void advance(u32 *clock) { *clock += 1; }
