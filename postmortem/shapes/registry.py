"""Which detectors there are, and which of them goes first.

In: what is observed of a job. Out: its shapes, each id once. Not here: the detectors, the kinds of
shapes (`knowledge.catalogue`).

Of several detectors, processes or lines that show one shape the first counts. The process that went
wrong before the others is looked at first, and it alone shows how that came.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from postmortem.facts.series import Series
from postmortem.knowledge.catalogue import CATALOGUE
from postmortem.model.lines import Where
from postmortem.shapes import (
    baseline,
    closing,
    codebook,
    collectives,
    contrasts,
    counting_lines,
    course,
    data_waits,
    degenerate,
    departure,
    device_memory,
    ending,
    few_scores,
    float_noise,
    frozen_bar,
    gpu_holders,
    gradients,
    hidden_loss,
    leaps,
    learning_rates,
    log_age,
    loss_scale,
    low_scores,
    machine_limits,
    memory_phase,
    no_progress,
    nonfinite,
    nonfinite_beside,
    nothing_scored,
    odd_line,
    odd_one_out,
    one_output,
    one_sided,
    only_notices,
    out_of_memory,
    package_list,
    policy,
    precision,
    precisions,
    rank_columns,
    ranks,
    repeated_epochs,
    saturation,
    scores,
    silence,
    speed,
    squared_errors,
    stacks,
    standstill,
    straggler,
    told_losses,
    told_reasons,
    torch_build,
    uneven_pace,
    unproved_end,
    version_pairs,
    vitals,
    waiting_places,
    warned_data,
)
from postmortem.shapes.aligned import Curves
from postmortem.shapes.epoch_headings import headed
from postmortem.shapes.observed import Detector, Observed
from postmortem.shapes.shape import Shape

_MOST_PROCESSES: Final = 64
OF_A_PROCESS: Final[tuple[Detector, ...]] = (
    nonfinite.of_loss,
    hidden_loss.zeros,
    nonfinite_beside.zero_rate,
    learning_rates.standstill,
    nonfinite_beside.evaluation,
    nonfinite_beside.components,
    nonfinite_beside.first_part,
    nonfinite_beside.inputs,
    nonfinite_beside.vanishing,
    gradients.beside_finite_loss,
    gradients.never_finite,
    gradients.explosion,
    gradients.huge_at_first,
    course.falling,
    departure.leaving,
    squared_errors.of_critic,
    leaps.of_loss,
    course.standing,
    repeated_epochs.repeated,
    course.frozen,
    saturation.at_floor,
    loss_scale.level,
    loss_scale.skipped,
    policy.rewards,
    policy.entropy,
    policy.preferences,
    policy.certainty,
    policy.never_rewarded,
    policy.frozen,
    one_sided.adversary,
    one_sided.silenced,
    one_sided.alike,
    scores.lost,
    scores.guessing,
    scores.unmoved_guess,
    low_scores.frozen_low,
    low_scores.never_scored,
    low_scores.always_one_answer,
    low_scores.never_better,
    few_scores.several_stand,
    few_scores.never_higher,
    degenerate.stuck,
    degenerate.unmoved,
    degenerate.equal,
    degenerate.saturated,
    degenerate.hopeless,
    nothing_scored.everywhere,
    no_progress.standing_guess,
    precisions.found_nothing,
    degenerate.of_one_answer,
    codebook.unused,
    float_noise.noise_only,
    float_noise.parts_that_stand,
    rank_columns.alone,
    vitals.others,
    vitals.absurd,
    vitals.astronomic,
    vitals.without_gradient,
    vitals.vanished,
    data_waits.waiting,
    speed.slowing,
    uneven_pace.uneven,
    learning_rates.out_of_the_usual,
    precision.figures,
    device_memory.usage,
    baseline.first_loss,
    baseline.guess,
)
"""They look at the curves of one process at a time."""
OF_THE_JOB: Final[tuple[Detector, ...]] = (
    ranks.uneven,
    straggler.slower,
    out_of_memory.accounts,
    memory_phase.phase,
    device_memory.printed,
    device_memory.of_host,
    gpu_holders.holders,
    torch_build.builds,
    version_pairs.pairs,
    machine_limits.limits,
    machine_limits.host_memory,
    package_list.lists,
    collectives.differing,
    collectives.behind,
    collectives.absent,
    odd_line.before_it,
    warned_data.before_bad_loss,
    told_reasons.reasons,
    told_losses.told,
    leaps.of_lines,
    contrasts.deciding,
    odd_one_out.named,
    odd_one_out.silent,
    silence.standing,
    frozen_bar.frozen,
    standstill.still,
    log_age.going_on,
    waiting_places.waiting_at_start,
    stacks.dumped,
    counting_lines.counting,
    one_output.always,
    ending.last_step,
    ending.last_epoch,
    ending.headed_epoch,
    closing.behind_records,
)
OF_THE_OUTCOME: Final[tuple[Detector, ...]] = (
    ending.finished,
    unproved_end.unproved,
    ending.without_record,
    ending.without_failure,
    only_notices.only,
)
"""They ask how the run ended, and what else was found."""


def found(observed: Observed) -> dict[str, Shape]:
    """Find the shapes of a job by id, but those that depend on how it ended."""
    origin = next(iter(ranks.first_gone_wrong(observed)), None)
    return _by_id(
        (
            *([origin] if origin is not None else []),
            *_of_processes(observed, origin),
            *(shape for detector in OF_THE_JOB for shape in detector(observed)),
        )
    )


def with_outcome(observed: Observed, known: Mapping[str, Shape], outcome: str) -> dict[str, Shape]:
    """Add the shapes that depend on how the run ended.

    Args:
        observed: of the job.
        known: what `found` gave.
        outcome: one of `names.OUTCOMES`.
    """
    view = observed.at_end(outcome, known)
    return _by_id(
        (*known.values(), *(shape for detector in OF_THE_OUTCOME for shape in detector(view)))
    )


def _of_processes(observed: Observed, origin: Shape | None) -> Iterator[Shape]:
    """Find the shapes of each process; those that spread count where they come from."""
    first = None if origin is None else (origin.source, origin.where)
    members = _processes(observed.series)
    for process in sorted(members, key=lambda one: one != first):
        epochs = headed(observed, members[process], process)
        view = observed.of(Curves([*members[process], *epochs], *process))  # they are large
        is_carried = first not in {None, process}
        for detector in OF_A_PROCESS:
            for shape in detector(view):
                if not (is_carried and CATALOGUE[shape.id].spreads):
                    yield shape


def _processes(series: Iterable[Series]) -> dict[tuple[int, Where], list[Series]]:
    """Put the series of each process together, by its source and its name."""
    groups: dict[tuple[int, Where], list[Series]] = {}
    for one in series:
        groups.setdefault((one.source, one.where), []).append(one)
    return dict(list(groups.items())[:_MOST_PROCESSES])


def _by_id(shapes: Iterable[Shape]) -> dict[str, Shape]:
    """Give the first shape of each id."""
    by_id: dict[str, Shape] = {}
    for shape in shapes:
        by_id.setdefault(shape.id, shape)
    return by_id
