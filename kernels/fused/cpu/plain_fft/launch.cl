// Launch: runs both steps of a plain FFT in one launch, whose work-items take task after task (tasks.cl).
//
// A chunk of images goes through both steps, then the next one, in the same strips.
//
// Launch   (workers) work-groups of one work-item
// Reads    source
// Writes   target; largest, the bits of the largest magnitude that each worker stored; z between the steps
// Scratch  x, a work space for each worker
//
// needs: fused/cpu/tasks.cl fused/cpu/plain_fft/layout.cl
//
// -D LOAD_PIXEL=uchar | ushort | float    of pixels; float for the others

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void plain_fft(volatile global uint *progress, global const params_t *params, global const layout_t *layout,
                    global vector_t *z, global vector_t *x, global const LOAD_PIXEL *source, global float *target,
                    global uint *largest, global const float2 *column_twiddles, global const float2 *row_twiddles,
                    global const uint *places, global const uint *to, global const uint *take,
                    global const float *between, const float scale)
{
    const shared_t shared = {params, layout, column_twiddles, row_twiddles, places, to, take, between, scale};
    uint rounds = 0, most = 0;
    x += 2 * (size_t)params->workspace * get_group_id(0);
    for (uint first = 0; first < layout->images; first += layout->chunk)
        for (uint step = 0; step < 2; ++step, ++rounds) {
            volatile global uint *done = progress_of(progress, rounds), *taken = done + 1;
            const uint each = layout->tasks[step], tasks = each * min(layout->chunk, layout->images - first);
            for (uint other = 0, task; next_task(taken, tasks, &other, &task);) {
                const uint place = task / each;
                const size_t image = first + place;
                global vector_t *strips = z + 2 * (size_t)params->strip_stride * params->strips * place;
                global const LOAD_PIXEL *from = source + image * layout->source_step;
                global float *into = target + image * layout->target_step;
                const uint found = step == 0 ? first_step(&shared, strips, x, from, into, task % each)
                                             : second_step(&shared, strips, x, from, into, task % each);
                most = found > most ? found : most;
                mem_fence(CLK_GLOBAL_MEM_FENCE);
                atomic_inc(done);
            }
            wait_for(done, tasks);
            mem_fence(CLK_GLOBAL_MEM_FENCE);
        }
    largest[get_group_id(0)] = most;
    end_tasks(progress, rounds);
}
