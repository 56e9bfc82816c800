"""SIGINT, SIGTERM and SIGKILL at any moment, then the same command again."""

import shlex
import signal
import subprocess

import jobs
import limits

SHORT_CASES = 6
# The program may have ended before, or died as asked.
AFTER = {signal.SIGKILL: {0, -signal.SIGKILL},
         signal.SIGINT: {0, 75, -signal.SIGINT},
         signal.SIGTERM: {0, 75, -signal.SIGTERM}}


def interrupt(case, job, out, number, seconds):
    """Starts the job, and sends the signal after a while."""
    was_done = out.exists() and job.program == "records"
    command = case.command(job.program, job.command(out))
    case.commands.append(f"{shlex.join(command)} & sleep {seconds:.3f}; "
                         f"kill -{int(number)} $!; wait")
    log = case.folder / "logs" / str(len(case.commands))
    limit = limits.of(job.program)
    process = limits.start(command, case.environment(), case.elsewhere, log,
                           limit)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(number)
    if process.returncode is not None:
        ended = limits.Ended(command, process.returncode, False, 0, 0, "",
                             limits.read(f"{log}.err"))
    else:
        ended = limits.wait(process, log, limit)
    # Before it handles signals, a program dies of them as any does.
    if ended.code in AFTER[number] and ended.code < 0:
        return ended
    case.judge(job.program, ended, limit)
    # 2: it was done before, and the user is told so.
    expected = AFTER[number] | ({2} if was_done else set())
    case.expect(ended.code in expected,
                f"{job.name}: exit code {ended.code} on signal {int(number)}: "
                f"{ended.tail}")
    return ended


def run(case):
    for good in (case.inputs.images, case.inputs.data):
        case.protect(good)
    job = case.random.choice(jobs.all_of(case.inputs))
    jobs.reference_of(case.inputs).of(job)
    out = case.work / "out"
    most = 4.0 if job.name == "train" else 0.8
    for _ in range(case.random.choice([1, 1, 2])):
        number = case.random.choice(list(AFTER))
        interrupt(case, job, out, number, case.random.uniform(0.005, most))
        jobs.check_half_done(case, job, out)
    jobs.finish(case, job, out)
