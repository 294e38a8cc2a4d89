// Filter: runs all steps in one launch, so that no compute unit sleeps between them. Waking one takes as long as
// filtering a small image.
//
// Each compute unit has one work-item, a worker, which does tasks (tasks.cl). Each image of a stack goes through the
// steps by itself, unless all have one scale.
//
// Launch   (workers) work-groups of one work-item
// Reads    images
// Writes   pixels; largest and deviation, one a strip; counted, one a band; extremes, one a picture; z between the
//          steps; the ramps if there are bins
// Scratch  x, a work space for each worker; counts, COUNTERS COPIES times `bins` and a vector for each picture, all 0
//          before and after
//
// A launch runs the steps first_step to end_step - 1: all of them, or one to be timed.
//
// needs: fused/cpu/tasks.cl fused/cpu/columns.cl fused/cpu/rows.cl fused/cpu/histogram.cl fused/cpu/quantize.cl

// Steps of each picture
#define STEPS 6

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void filter(volatile global uint *progress, global const params_t *params, global vector_t *z, global vector_t *x,
            global const LOAD_PIXEL *image, global char *pixels, global float *deviation, global float *largest,
            global const float2 *column_twiddles, global const float2 *row_twiddles, global const uint *places,
            global const across_t *across, global const down_t *down, global const vector_t *gains,
            global const vector_t *odd_gains, global const twins_t *twins, global const turn_t *turns,
            global ramp_t *ramps, global uint2 *counted, global float2 *extremes, global const wanted_t *wanted,
            global uint *counts, const uint bins, const uint first_step, const uint end_step)
{
    const uint pictures = params->one_scale ? 1 : params->count, images = params->count / pictures;
    const uint tasks[STEPS] = {(params->strips + params->strips_per_task - 1) / params->strips_per_task * images,
                               params->row_groups * images, params->strips * images,
                               bins ? counters_of(params) * images : 0, bins ? images : 0,
                               tasks_of_quantize(params) * images};
    const mask_tables_t tables = {across, down, gains, odd_gains, twins, turns};
    x += 2 * (size_t)params->workspace * (1 + params->needs_two_inverses) * get_group_id(0);

    for (uint picture = 0; picture < pictures; ++picture) {
        global uint *own_counts = counts + COUNTERS * COPIES * (bins + VECTOR) * (size_t)picture;
        for (uint step = first_step; step < end_step; ++step) {
            if (tasks[step] == 0)
                continue;
            volatile global uint *done = progress_of(progress, picture * STEPS + step), *taken = done + 1;
            const uint each = tasks[step] / images;
            for (uint other = 0, task; next_task(taken, tasks[step], &other, &task);) {
                const uint index = task % each;
                const size_t i = picture * images + task / each;
                switch (step) {
                case 0:
                    columns_forward(params, z, x, image, deviation, column_twiddles, places, i, index);
                    break;
                case 1:
                    rows(params, z, x, row_twiddles, places, tables, i, index);
                    break;
                case 2:
                    columns_inverse(params, z, x, image, largest, column_twiddles, i, index);
                    break;
                case 3:
                    if (i == picture * images) // all images of a picture count together
                        histogram(params, z, largest, own_counts, bins, i, images, index);
                    break;
                case 4:
                    if (i == picture * images)
                        ramp_of_histogram(params, ramps + picture, *wanted, largest, own_counts, bins, i);
                    break;
                case 5:
                    quantize(params, pixels, z, largest, deviation, ramps, counted, extremes, i, index);
                    break;
                }
                mem_fence(CLK_GLOBAL_MEM_FENCE);
                atomic_inc(done);
            }
            if (step + 1 < end_step)
                wait_for(done, tasks[step]);
            mem_fence(CLK_GLOBAL_MEM_FENCE);
        }
    }
    end_tasks(progress, pictures * STEPS);
}
