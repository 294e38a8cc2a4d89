// Tasks: shares the work of steps among workers, work-items that are each alone in their group.
//
// In each step a worker does its own tasks, neighbors one after the other, then tasks that other workers have not begun,
// and goes on when all are done. A worker waits only for tasks that others have begun, and always finishes its own. So
// no worker waits forever, however many there are and whenever they start.
//
// Layout of `progress`: the number of workers that have ended; then, for each step, the number of tasks that are done
// and, for each worker, the number of its own that are taken. All are 0 before and after.
//
// needs: fused/cpu/builtins.cl

// Spin-wait hint for x86
#if defined __clang__ && defined __x86_64__
#define REST __builtin_ia32_pause()
#else
#define REST
#endif

// The counters of a step: how many tasks are done, and behind that how many of each worker's are taken
static inline volatile global uint *progress_of(volatile global uint *progress, const uint step)
{
    return progress + 1 + step * (1 + get_num_groups(0));
}

// Takes a task, one of the worker that is `other` places behind this one, or of those that follow; false without any
static inline bool next_task(volatile global uint *taken, const uint tasks, uint *other, uint *task)
{
    const uint workers = get_num_groups(0);
    for (; *other < workers; ++*other) {
        const uint owner = (get_group_id(0) + *other) % workers;
        const uint first = (ulong)tasks * owner / workers, end = (ulong)tasks * (owner + 1) / workers;
        *task = first + atomic_inc(taken + owner);
        if (*task < end)
            return true;
    }
    return false;
}

static inline void wait_for(volatile global uint *done, const uint tasks)
{
    while (*done < tasks)
        REST;
}

// The last worker clears the counters of all steps.
static inline void end_tasks(volatile global uint *progress, const uint steps)
{
    if (atomic_inc(progress) == get_num_groups(0) - 1)
        for (uint i = 0; i < 1 + steps * (1 + get_num_groups(0)); ++i)
            progress[i] = 0;
}
