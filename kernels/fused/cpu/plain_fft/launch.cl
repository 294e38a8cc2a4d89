// Launch: runs both steps of a plain FFT in one launch, whose work-items take task after task as in filter.cl.
//
// A chunk of images goes through both steps, then the next one, in the same strips.
//
// Launch   (workers) work-groups of one work-item
// Reads    source
// Writes   target; largest, the bits of the largest magnitude that each worker stored; z between the steps
// Scratch  x, a work space for each worker
//
// needs: fused/cpu/plain_fft/layout.cl
//
// -D TRANSFORM=complex | real | values    complex numbers or pixels to a spectrum, or half a spectrum to real values
// -D LOAD_PIXEL=uchar | ushort | float    of pixels; float for the others

#ifndef TRANSFORM
#error "fused/cpu/plain_fft/launch.cl: -D TRANSFORM=complex, real or values is missing"
#endif

// The two steps of each TRANSFORM
#define complex_first complex_columns
#define complex_second complex_rows
#define real_first real_columns
#define real_second real_rows
#define values_first values_rows
#define values_second values_columns

// Spin-wait hint for x86
#if defined __clang__ && defined __x86_64__
#define REST __builtin_ia32_pause()
#else
#define REST
#endif

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void plain_fft(volatile global uint *progress, global const params_t *params, global const layout_t *layout,
                    global vector_t *z, global vector_t *x, global const LOAD_PIXEL *source, global float *target,
                    global uint *largest, global const float2 *column_twiddles, global const float2 *row_twiddles,
                    global const uint *places, global const uint *to, global const uint *take,
                    global const float *between, const float scale)
{
    const shared_t shared = {params, layout, column_twiddles, row_twiddles, places, to, take, between, scale};
    const uint workers = get_num_groups(0), worker = get_group_id(0);
    uint rounds = 0, most = 0;
    x += 2 * (size_t)params->workspace * worker;
    for (uint first = 0; first < layout->images; first += layout->chunk)
        for (uint step = 0; step < 2; ++step, ++rounds) {
            volatile global uint *done = progress + 1 + rounds * (1 + workers), *taken = done + 1;
            const uint each = layout->tasks[step], tasks = each * min(layout->chunk, layout->images - first);
            for (uint other = 0; other < workers; ++other) {
                const uint owner = (worker + other) % workers;
                const uint begin = (ulong)tasks * owner / workers;
                const uint count = (uint)((ulong)tasks * (owner + 1) / workers) - begin;
                for (uint next = atomic_inc(taken + owner); next < count; next = atomic_inc(taken + owner)) {
                    const uint task = (begin + next) % each, place = (begin + next) / each;
                    const size_t image = first + place;
                    global vector_t *strips = z + 2 * (size_t)params->strip_stride * params->strips * place;
                    global const LOAD_PIXEL *from = source + image * layout->source_step;
                    global float *into = target + image * layout->target_step;
                    const uint found = step == 0 ? PASTE(TRANSFORM, _first)(&shared, strips, x, from, into, task)
                                                 : PASTE(TRANSFORM, _second)(&shared, strips, x, from, into, task);
                    most = found > most ? found : most;
                    mem_fence(CLK_GLOBAL_MEM_FENCE);
                    atomic_inc(done);
                }
            }
            while (*done < tasks)
                REST;
            mem_fence(CLK_GLOBAL_MEM_FENCE);
        }
    largest[worker] = most;
    if (atomic_inc(progress) == workers - 1)
        for (uint i = 0; i < 1 + rounds * (1 + workers); ++i)
            progress[i] = 0;
}
