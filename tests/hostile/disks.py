"""A disk that is full from some call on, then the same command again."""

import errno

import jobs

SHORT_CASES = 6
ERRORS = [errno.ENOSPC, errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS]


def lacks(inputs):
    return None if inputs.faults.exists() else f"{inputs.faults} is not built"


def run(case):
    for good in (case.inputs.images, case.inputs.data):
        case.protect(good)
    job = case.random.choice(jobs.all_of(case.inputs))
    jobs.reference_of(case.inputs).of(job)
    out = case.work / "out"
    ended = case.run(
        job.program, *job.command(out), codes={0, 1, 3},
        env={"LD_PRELOAD": str(case.inputs.faults), "FAULT_UNDER": str(out),
             "FAULT_AT": str(case.random.choice([1, 2, 3, 4, 5, 8, 12, 20,
                                                 40, 80])),
             "FAULT_ERRNO": str(case.random.choice(ERRORS))})
    if ended.code != 0:
        case.expect(str(case.work) in ended.errors,
                    f"{job.name}: names no path: {ended.tail}")
    jobs.check_half_done(case, job, out)
    jobs.finish(case, job, out)
