// Filter: all steps in one launch, for small images, whose time is mostly that of launches. Rows and columns have the
// same plan.
//
// A work-group does one task of one step: rows, columns, inverse rows, if there are `bins` a part of the histogram and its
// ramp, or some of the values to quantize. It takes the next task when it starts, in the order of the steps, and waits until all tasks of the step before are done. Those
// have been begun by groups that are running and that wait at most for tasks before them: nobody waits forever, however
// few groups run at a time and in whatever order they start.
//
// Launch   (tasks x GROUP) work-items, GROUP a work-group
// Reads    and writes as rows.cl, columns.cl, inverse_rows.cl and quantize.cl
//
// progress: tasks taken, tasks left, then for each step but the last how many are done. All are 0 before and after.

#define STEPS 6
#define SIZE ((size_t)WIDTH * HEIGHT)
#define ROW_GROUPS ((PAIRS + BATCH - 1) / BATCH)
// Groups that count an image, as fused/gpu/launches.py launches them: few, as each adds a histogram of its own
#define COUNTING_GROUPS (ROW_GROUPS < 128 ? ROW_GROUPS : 128)
// All tasks of a step: those of each image, but of the ramp those of each picture
#define TASKS(step) (groups[step] * ((step) == 4 && one_scale ? 1 : pictures))
// Local memory for exchanges, and for as many bins as there are at most
#define MOST_BINS 4096
#define EXCHANGED_BYTES (sizeof(exchanged_t) * LOCAL_SIZE)
#define SHARED_BYTES (EXCHANGED_BYTES < 4 * MOST_BINS ? 4 * MOST_BINS : EXCHANGED_BYTES)
// What a task quantizes, PIXELS_PER_ITEM at once.
#define QUANTIZED ((SIZE / PIXELS_PER_ITEM + ROW_GROUPS - 1) / ROW_GROUPS)

// What a group has written is there for others before it says so, and what others have written is not read before.
// OpenCL 1.2 promises that of mem_fence within a group only, and NVIDIA's compiler takes it at its word.
#ifdef __NV_CL_C_VERSION
#define FENCE asm volatile("membar.gl;" ::: "memory")
#else
#define FENCE mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void gpu_filter(global const LOAD_PIXEL *image, global pixels_t *output, global complex_t *spectrum,
                global real_t *values, global const complex_t *tables, global uint *largest,
                volatile global uint *progress, const uint pictures, const uint reach, const uint one_scale,
                const real_t dc, global ramp_t *ramps, const real_t range,
                global const mask_data_t *mask_data, const real_t scale, const real_t scale_x2, const real_t scale_y2, const real_t per_outer2,
                const real_t per_inner2,
                const real_t outer_falloff, const real_t inner_falloff, const real_t at_dc, const uint is_complement,
                global const wanted_t *wanted, global uint *counts, const uint bins, const uint counted_rows,
                const uint counted_columns)
{
    local complex_t shared[SHARED_BYTES / sizeof(complex_t)];
    local exchanged_t *x = (local exchanged_t *)shared;
    local uint found;
    local real_t ends[2];
    const uint groups[STEPS] = {ROW_GROUPS, (min(reach, (uint)COLUMNS) + BATCH - 1) / BATCH, ROW_GROUPS,
                                bins ? COUNTING_GROUPS : 0, bins ? 1 : 0, ROW_GROUPS};
    if (get_local_id(0) == 0)
        found = atomic_inc(progress);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint task = found, step = 0, before = 0;
    for (; step < STEPS - 1 && task >= TASKS(step); step++) {
        task -= TASKS(step);
        before = TASKS(step) ? step : before;
    }
    const uint group = task % groups[step];
    const size_t picture = task / groups[step];

    if (step && get_local_id(0) == 0) {
        volatile global uint *done = progress + 2 + before;
        while (*done < TASKS(before))
            ;
        FENCE;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);

    if (step == 0)
        rows(spectrum, image, tables, largest, reach, group, picture, x);
    else if (step == 1) {
        const cutoffs_t cutoffs = {scale_x2, scale_y2, per_outer2, per_inner2, outer_falloff, inner_falloff, at_dc,
        is_complement};
        columns(spectrum, tables, mask_data, scale, cutoffs, 0, group, picture, pictures, x);
    } else if (step == 2)
        inverse_rows(values, spectrum, tables, largest, one_scale, reach, dc, 0, image, group, picture, pictures, x,
                     &found);
    else if (step == 3)
        histogram(counts, values, largest, one_scale, HEIGHT, WIDTH, bins, counted_rows, counted_columns, picture, group,
                  COUNTING_GROUPS, (local uint *)shared);
    else if (step == 4)
        ramp_of_histogram(ramps, wanted, counts, largest, bins, picture, (local uint *)shared, ends);
    else {
        quantize(output, (global const VALUE *)values, image, largest, one_scale, ramps, range, HEIGHT, WIDTH,
                 group * QUANTIZED, min((size_t)(group + 1) * QUANTIZED, (size_t)(SIZE / PIXELS_PER_ITEM)), picture, pictures,
                 &found);
    }

    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        if (step < STEPS - 1) {
            FENCE;
            atomic_inc(progress + 2 + step);
        }
        if (atomic_inc(progress + 1) == get_num_groups(0) - 1)
            for (uint i = 0; i < STEPS + 1; i++)
                progress[i] = 0;
    }
}
