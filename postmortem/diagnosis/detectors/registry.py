"""Which detectors there are, and which of them goes first.

In: what is observed of a job. Out: its shapes, each id once. Not here: the detectors, the kinds of
shapes (`patterns/anomalies`).

Of several detectors, processes or lines that show one shape the first counts. The process that went
wrong before the others is looked at first, and it alone shows how that came.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from postmortem.core.findings import ProcessId
from postmortem.diagnosis.detectors import (
    auxiliary_metrics,
    chance_level,
    closing,
    collapse,
    collectives,
    curve_features,
    data_waits,
    divergence,
    ending,
    gpu_holders,
    gradients,
    installed_packages,
    jumps,
    machine_limits,
    nonfinite,
    nonfinite_hints,
    nonfinite_metrics,
    out_of_memory,
    planned_end,
    precision,
    progress_lines,
    ranks,
    ras_reports,
    scores,
    speed,
    stacks,
    standstill,
    trend,
    validation,
    waiting_ranks,
)
from postmortem.diagnosis.detectors.boosted_trees import CurveModel
from postmortem.diagnosis.detectors.curve_course import select_last_training
from postmortem.diagnosis.detectors.observed import (
    Anomaly,
    Curves,
    Detector,
    Observed,
    group_series_by_process,
)
from postmortem.diagnosis.detectors.record_lines import build_epoch_series
from postmortem.extraction.facts.series import Series

_MOST_PROCESSES: Final = 64
OF_A_PROCESS: Final[tuple[Detector, ...]] = (
    nonfinite.detect_nonfinite_loss,
    nonfinite_metrics.detect_zero_loss,
    nonfinite_metrics.detect_nonfinite_at_zero_rate,
    auxiliary_metrics.detect_constant_learning_rate,
    nonfinite_metrics.detect_nonfinite_evaluation,
    nonfinite_metrics.detect_nonfinite_component,
    nonfinite_metrics.detect_first_nonfinite_part,
    nonfinite_metrics.detect_nonfinite_inputs,
    nonfinite_metrics.detect_vanishing_metric,
    gradients.detect_nonfinite_norms,
    gradients.detect_norms_never_finite,
    gradients.detect_gradient_explosion,
    gradients.detect_huge_first_norm,
    curve_features.detect_curve_conditions,
    trend.detect_falling_loss,
    scores.detect_rising_score,
    divergence.detect_divergence,
    jumps.detect_critic_error_growth,
    jumps.detect_loss_jumps,
    trend.detect_loss_plateau,
    trend.detect_repeated_epoch,
    trend.detect_frozen_loss,
    precision.detect_loss_scale_trend,
    precision.detect_skipped_steps,
    collapse.detect_uniform_rewards,
    collapse.detect_entropy_collapse,
    collapse.detect_preference_collapse,
    collapse.detect_premature_certainty,
    collapse.detect_absent_reward,
    collapse.detect_frozen_policy,
    collapse.detect_dominant_discriminator,
    collapse.detect_silenced_generator,
    collapse.detect_representation_collapse,
    validation.detect_overfitting,
    validation.detect_validation_left_behind,
    scores.detect_lost_score,
    scores.detect_zero_precision,
    collapse.detect_codebook_collapse,
    ranks.detect_first_nonfinite_rank,
    auxiliary_metrics.detect_nonfinite_metrics,
    auxiliary_metrics.detect_implausible_end,
    auxiliary_metrics.detect_astronomic_jump,
    auxiliary_metrics.detect_zero_gradients,
    auxiliary_metrics.detect_vanished_loss,
    data_waits.detect_data_waits,
    speed.detect_slowdown,
    speed.detect_uneven_pace,
    auxiliary_metrics.detect_unusual_learning_rate,
    precision.detect_half_precision_values,
    machine_limits.detect_memory_trend,
    chance_level.detect_initial_loss_level,
    chance_level.detect_chance_level,
)
"""They look at the curves of one process at a time."""
OF_THE_JOB: Final[tuple[Detector, ...]] = (
    ranks.detect_uneven_step_counts,
    ranks.detect_straggler,
    out_of_memory.detect_oom_conditions,
    out_of_memory.detect_oom_phase,
    machine_limits.detect_printed_memory_growth,
    machine_limits.detect_host_memory_growth,
    gpu_holders.detect_gpu_holders,
    installed_packages.detect_torch_build_mismatch,
    installed_packages.detect_version_conflict,
    machine_limits.detect_machine_limits,
    machine_limits.detect_host_memory_exhaustion,
    installed_packages.detect_package_listing,
    collectives.detect_mismatched_collectives,
    collectives.detect_lagging_ranks,
    waiting_ranks.detect_waiting_ranks,
    ras_reports.detect_ras_outlier,
    collectives.detect_absent_ranks,
    nonfinite_hints.detect_odd_data_line,
    nonfinite_hints.detect_data_warning,
    nonfinite_hints.detect_nonfinite_hints,
    nonfinite_hints.detect_reported_nonfinite_loss,
    jumps.detect_unnamed_metric_jumps,
    nonfinite_hints.detect_deciding_settings,
    collectives.detect_reported_missing,
    collectives.detect_silent_process,
    progress_lines.detect_stalled_output,
    progress_lines.detect_frozen_bar,
    standstill.detect_stall,
    standstill.detect_recent_log_change,
    standstill.detect_wait_at_start,
    stacks.detect_stack_outlier,
    progress_lines.detect_counting_lines,
    ending.detect_last_step,
    planned_end.detect_planned_end,
    closing.detect_after_last_record,
)
OF_THE_OUTCOME: Final[tuple[Detector, ...]] = (
    ending.detect_completion,
    chance_level.detect_unproved_learning,
    ending.detect_stall_without_records,
    ending.detect_failure_free_run,
    ending.detect_only_warnings,
)
"""They ask how the run ended, and what else was found."""


def detect_anomalies(observed: Observed) -> dict[str, Anomaly]:
    """Find the shapes of a job by id, but those that depend on how it ended."""
    origin = next(iter(ranks.detect_first_nonfinite_process(observed)), None)
    return _collect_by_id(
        (
            *([origin] if origin is not None else []),
            *_iter_process_anomalies(observed, origin),
            *(shape for detector in OF_THE_JOB for shape in detector(observed)),
        )
    )


def add_outcome_anomalies(
    observed: Observed,
    known: Mapping[str, Anomaly],
    outcome: str,
    open_curve_model: Callable[[], CurveModel] | None = None,
    *,
    was_stopped: bool = False,
) -> dict[str, Anomaly]:
    """Add the shapes that depend on how the run ended.

    Args:
        observed: of the job.
        known: what `found` gave.
        outcome: one of `names.OUTCOMES`.
        open_curve_model: gives the model that is asked where nothing else is bad.
        was_stopped: the run failed only because it was stopped from outside, which its curves may
            explain.
    """
    view = observed.at_end(outcome, known)
    found = _collect_by_id(
        (*known.values(), *(shape for detector in OF_THE_OUTCOME for shape in detector(view)))
    )
    judged = "cancelled" if was_stopped else outcome
    if open_curve_model is None or not observed.at_end(judged, found).is_undecided:
        return found
    main = _find_main_process(observed)
    if main is None:
        return found
    process, series = main
    last = select_last_training(series)
    doubts = curve_features.detect_unsound_curves(
        _view_series(observed, process, last),
        None if last is series else _view_series(observed, process, series),
        open_curve_model,
    )
    return _collect_by_id((*found.values(), *doubts))


def view_main_process(observed: Observed) -> Observed | None:
    """Give the view of the process with the most points of curves; None where none has any."""
    main = _find_main_process(observed)
    return None if main is None else _view_series(observed, main[0], select_last_training(main[1]))


def _find_main_process(
    observed: Observed,
) -> tuple[tuple[int, ProcessId], Sequence[Series]] | None:
    """Find the process with the most points of curves, and give all its series."""
    members = group_series_by_process(observed.series, _MOST_PROCESSES)
    if not members:
        return None
    main = max(members, key=lambda process: sum(one.points for one in members[process]))
    return main, [*members[main], *build_epoch_series(observed, members[main], main)]


def _iter_process_anomalies(observed: Observed, origin: Anomaly | None) -> Iterator[Anomaly]:
    """Find the shapes of each process; those that spread count where they come from."""
    first = None if origin is None else (origin.source, origin.where)
    members = group_series_by_process(observed.series, _MOST_PROCESSES)
    for process in sorted(members, key=lambda one: one != first):
        epochs = build_epoch_series(observed, members[process], process)
        view = _view_series(observed, process, select_last_training([*members[process], *epochs]))
        is_carried = first not in {None, process}
        for detector in OF_A_PROCESS:
            for shape in detector(view):
                if not (is_carried and observed.anomaly_types[shape.id].spreads):
                    yield shape


def _view_series(
    observed: Observed, process: tuple[int, ProcessId], series: Sequence[Series]
) -> Observed:
    return observed.of(Curves(series, *process, observed.metrics))


def _collect_by_id(shapes: Iterable[Anomaly]) -> dict[str, Anomaly]:
    """Give the first shape of each id."""
    by_id: dict[str, Anomaly] = {}
    for shape in shapes:
        by_id.setdefault(shape.id, shape)
    return by_id
