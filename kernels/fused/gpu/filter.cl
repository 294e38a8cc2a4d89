// Filter: all steps in one launch, for small images, whose time is mostly that of launches. Rows and columns have the
// same plan.
//
// A work-group does one task of one step: rows, columns, inverse rows, or some of the values to quantize. It takes the
// next task when it starts, in the order of the steps, and waits until all tasks of the step before are done. Those
// have been begun by groups that are running and that wait at most for tasks before them: nobody waits forever, however
// few groups run at a time and in whatever order they start.
//
// Launch   (tasks x GROUP) work-items, GROUP a work-group
// Reads    and writes as rows.cl, columns.cl, inverse_rows.cl and quantize.cl
//
// progress: tasks taken, tasks left, then for each step but the last how many are done. All are 0 before and after.

#define STEPS 4
#define SIZE ((size_t)WIDTH * HEIGHT)
#define ROW_GROUPS ((PAIRS + BATCH - 1) / BATCH)
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
                const real_t dc, global const ramp_t *ramps, const real_t range,
                global const mask_data_t *mask_data, const real_t scale, const real_t scale_x2, const real_t scale_y2, const real_t per_outer2,
                const real_t per_inner2,
                const real_t outer_falloff, const real_t inner_falloff,
                        const real_t at_dc, const uint is_complement)
{
    local exchanged_t x[LOCAL_SIZE];
    local uint found;
    const uint groups[STEPS] = {ROW_GROUPS, (min(reach, (uint)COLUMNS) + BATCH - 1) / BATCH, ROW_GROUPS, ROW_GROUPS};
    if (get_local_id(0) == 0)
        found = atomic_inc(progress);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint task = found, step = 0;
    for (; step < STEPS - 1 && task >= groups[step] * pictures; step++)
        task -= groups[step] * pictures;
    const uint group = task % groups[step];
    const size_t picture = task / groups[step];

    if (step && get_local_id(0) == 0) {
        volatile global uint *done = progress + 2 + (step - 1);
        while (*done < groups[step - 1] * pictures)
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
