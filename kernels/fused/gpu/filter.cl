// Filter: runs all steps in one launch, for small images, which take little longer than their launches. Rows and
// columns have the same plan.
//
// Work-groups do task after task: rows, columns, inverse rows, if there are `bins` parts of the histogram and the ramp,
// and the values to quantize. A group takes the next task, in the order of the steps, and waits until all tasks of
// the previous step are done. Running groups have begun those, and wait at most for earlier ones. So no group waits
// forever, however few run at a time and in whatever order they start.
//
// Launch   (tasks of the largest step x GROUP) work-items, GROUP a work-group
// Reads    and writes as rows.cl, columns.cl, inverse_rows.cl, quantize.cl, and with `bins` histogram.cl and
//          ramp_of_histogram.cl
//
// Layout of `progress`: tasks taken, groups that have left, tasks done of each step. All are 0 before and after.
//
// needs: fused/gpu/rows.cl fused/gpu/columns.cl fused/gpu/inverse_rows.cl fused/gpu/quantize.cl
// needs: fused/gpu/histogram.cl fused/gpu/ramp_of_histogram.cl
//
// -D HISTOGRAM_GROUPS=n    the most groups that make an image's histogram

#ifndef HISTOGRAM_GROUPS
#error "fused/gpu/filter.cl: -D HISTOGRAM_GROUPS is missing"
#endif

// The steps, in their order in `progress`
#define ROW_STEP 0
#define COLUMN_STEP 1
#define INVERSE_STEP 2
#define HISTOGRAM_STEP 3
#define RAMP_STEP 4
#define QUANTIZE_STEP 5
#define STEPS 6
// Layout of `progress`
#define TAKEN 0
#define LEFT 1
#define DONE 2

// Pixels of a picture, and groups that transform its rows
#define SIZE ((size_t)WIDTH * HEIGHT)
#define ROW_GROUPS ((PAIRS + BATCH - 1) / BATCH)
// Pixels that a group quantizes
#define QUANTIZED ((uint)((SIZE + ROW_GROUPS - 1) / ROW_GROUPS))
// Groups that count an image
#define COUNTING_GROUPS (ROW_GROUPS < HISTOGRAM_GROUPS ? ROW_GROUPS : HISTOGRAM_GROUPS)
// All tasks of a step: those of each image, but of the ramp those of each picture
#define TASKS(step) (groups[step] * ((step) == RAMP_STEP && one_scale ? 1 : pictures))
// Local memory for exchanges, and for as many bins as there are at most
#define MOST_BINS 4096
#define EXCHANGED_BYTES (sizeof(exchanged_t) * LOCAL_SIZE)
#define SHARED_BYTES (EXCHANGED_BYTES < 4 * MOST_BINS ? 4 * MOST_BINS : EXCHANGED_BYTES)

// A group announces its values only after they are written, and reads those of others only after they are announced.
// OpenCL 1.2 promises that of mem_fence within a group only, and NVIDIA's compiler takes it at its word.
#ifdef __NV_CL_C_VERSION
#define FENCE asm volatile("membar.gl;" ::: "memory")
#else
#define FENCE mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif

// One work-item of a group waits until so many tasks of a step are done.
INLINE void wait_for(volatile global const uint *done, const uint tasks)
{
    while (*done < tasks)
        ;
    FENCE;
}

kernel void gpu_filter(global const LOAD_PIXEL *image, global pixels_t *output, global complex_t *spectrum,
                       global real_t *values, global const complex_t *tables, global uint *largest,
                       volatile global uint *progress, const uint pictures, const uint support, const uint one_scale,
                       const real_t dc, global ramp_t *ramps, const real_t range,
                       global const mask_data_t *mask_data, const real_t scale, const real_t scale_x2,
                       const real_t scale_y2, const real_t per_outer2, const real_t per_inner2,
                       const real_t outer_falloff, const real_t inner_falloff, const real_t at_dc,
                       const uint is_complement, global const wanted_t *wanted, global uint *counts, const uint bins,
                       const uint counted_rows, const uint counted_columns)
{
    local complex_t shared[SHARED_BYTES / sizeof(complex_t)];
    local exchanged_t *x = (local exchanged_t *)shared;
    local uint found, taken;
    local real_t ends[2];
    const uint groups[STEPS] = {ROW_GROUPS, (min(support, (uint)COLUMNS) + BATCH - 1) / BATCH, ROW_GROUPS,
                                bins ? COUNTING_GROUPS : 0, bins ? 1 : 0, ROW_GROUPS};
    const bool is_first = get_local_id(0) == 0;
    if (is_first)
        taken = atomic_inc(progress + TAKEN);
    for (;;) {
        barrier(CLK_LOCAL_MEM_FENCE);
        uint task = taken, step = 0, before = 0;
        for (; step < STEPS && task >= TASKS(step); step++) {
            task -= TASKS(step);
            before = TASKS(step) ? step : before;
        }
        if (step == STEPS)
            break;
        const uint group = task % groups[step];
        const size_t picture = task / groups[step], own = one_scale ? 0 : picture;
        if (step && is_first)
            wait_for(progress + DONE + before, TASKS(before));
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);

        if (step == ROW_STEP)
            rows(spectrum, image, tables, largest, support, group, picture, x);
        else if (step == COLUMN_STEP) {
            const cutoffs_t cutoffs = {scale_x2, scale_y2, per_outer2, per_inner2, outer_falloff, inner_falloff, at_dc,
                is_complement};
            columns(spectrum, tables, mask_data, scale, cutoffs, 0, group, picture, pictures, x);
        } else if (step == INVERSE_STEP)
            inverse_rows(values + picture * SIZE, spectrum + picture * (2 * (size_t)PLANE), tables,
                         largest + FOUND * own, support, dc, 0, image + picture * SIZE, group, x, &found);
        else if (step == HISTOGRAM_STEP)
            histogram(counts, values, largest, one_scale, HEIGHT, WIDTH, bins, counted_rows, counted_columns, picture,
                      group, COUNTING_GROUPS, (local uint *)shared);
        else if (step == RAMP_STEP)
            ramp_of_histogram(ramps, wanted, counts, largest, bins, picture, (local uint *)shared, ends);
        else {
            const size_t first = min((size_t)group * QUANTIZED, SIZE), start = picture * SIZE + first;
            const uint count = min(SIZE - first, (size_t)QUANTIZED);
            VALUE fetched[FETCHED];
            fetch(fetched, values + start, get_local_id(0), count, GROUP);
            const real_t most = as_float(largest[FOUND * own]);
            const bool noise = is_noise(image, most, one_scale, ramps[own].noise, range, HEIGHT, WIDTH, picture,
                                        pictures, &found);
            const uint clipped = quantize(output + start, values + start, fetched, count,
                                          ramp_for(ramps[own], most, noise), GROUP, group * (QUANTIZED / GROUP),
                                          EVERY(SIZE), largest + FOUND * own + 2);
            keep_sum(largest + FOUND * own + 1, clipped, &found);
        }

        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (is_first) {
            const uint next = atomic_inc(progress + TAKEN);
            FENCE;
            atomic_inc(progress + DONE + step);
            taken = next;
        }
    }
    // The last group clears `progress`.
    if (is_first && atomic_inc(progress + LEFT) == get_num_groups(0) - 1)
        for (uint i = 0; i < DONE + STEPS; i++)
            progress[i] = 0;
}
