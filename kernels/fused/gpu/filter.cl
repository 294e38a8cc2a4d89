// Filter: runs all steps in one launch, for small images, which take little longer than their launches. Rows and
// columns have the same plan.
//
// Work-groups do task after task: rows, columns, inverse rows and, if there are `bins`, parts of the histogram, the
// ramp and the values to quantize. A group takes the next task, in the order of the steps, and waits until all tasks of
// the previous step are done. Running groups have begun those, and wait at most for earlier ones. So no group waits
// forever, however few run at a time and in whatever order they start.
//
// Launch   (tasks of the largest step x GROUP) work-items, GROUP a work-group
// Reads    and writes as rows.cl, columns.cl, inverse_rows.cl, and to_pixels.cl or with `bins` quantize.cl
//
// needs: fused/gpu/rows.cl fused/gpu/columns.cl fused/gpu/to_pixels.cl fused/gpu/histogram.cl
// needs: fused/gpu/ramp_of_histogram.cl
//
// -D HISTOGRAM_GROUPS=n    the most groups that make an image's histogram

#ifndef HISTOGRAM_GROUPS
#error "fused/gpu/filter.cl: -D HISTOGRAM_GROUPS is missing"
#endif

// Groups that count an image
#define COUNTING_GROUPS (ROW_GROUPS < HISTOGRAM_GROUPS ? ROW_GROUPS : HISTOGRAM_GROUPS)
// All tasks of a step: those of each image, but of the ramp those of each picture
#define TASKS(step) (groups[step] * ((step) == RAMP_STEP && one_scale ? 1 : pictures))
// Local memory for exchanges, and for as many bins as there are at most
#define MOST_BINS 4096
#define EXCHANGED_BYTES (sizeof(exchanged_t) * LOCAL_SIZE)
#define SHARED_BYTES (EXCHANGED_BYTES < 4 * MOST_BINS ? 4 * MOST_BINS : EXCHANGED_BYTES)

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
                                bins ? COUNTING_GROUPS : 0, bins ? 1 : 0, bins ? ROW_GROUPS : 0};
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
        const size_t picture = task / groups[step];
        if (step && is_first)
            wait_for(progress + DONE + before, TASKS(before));
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);

        bool waits = false;
        uint in_memory = step == QUANTIZE_STEP ? task : NONE;
        if (step == ROW_STEP)
            rows(spectrum, image, tables, largest, support, group, picture, x);
        else if (step == COLUMN_STEP) {
            const cutoffs_t cutoffs = {scale_x2, scale_y2, per_outer2, per_inner2, outer_falloff, inner_falloff, at_dc,
                is_complement};
            columns(spectrum, tables, mask_data, scale, cutoffs, 0, group, picture, pictures, x);
        } else if (step == INVERSE_STEP) {
            const uint own = one_scale ? 0 : picture, p = group * BATCH + own_transform(INNER);
            const uint begun = bins ? NONE : TASKS(ROW_STEP) + TASKS(COLUMN_STEP) + TASKS(INVERSE_STEP);
            const uint became = values_or_pixels(output + picture * SIZE, values + picture * SIZE,
                spectrum + picture * (2 * (size_t)PLANE), tables, largest + FOUND * own, progress, support, dc,
                ramps + own, range, image + picture * SIZE, group, task, begun, TASKS(INVERSE_STEP), x, &found);
            waits = became != AS_VALUES;
            in_memory = became == AS_DOUBTFUL_VALUES ? task : NONE;
        } else if (step == HISTOGRAM_STEP)
            histogram(counts, values, largest, one_scale, HEIGHT, WIDTH, bins, counted_rows, counted_columns, picture,
                      group, COUNTING_GROUPS, (local uint *)shared);
        else if (step == RAMP_STEP)
            ramp_of_histogram(ramps, wanted, counts, largest, bins, picture, (local uint *)shared, ends);

        pixels_from_memory(output, values, image, largest, progress, pictures, one_scale, ramps, range, in_memory,
                           waits, &found);
        if (waits)
            break;
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (is_first) {
            const uint next = atomic_inc(progress + TAKEN);
            say_done(progress, step);
            taken = next;
        }
    }
    leave(progress);
}
