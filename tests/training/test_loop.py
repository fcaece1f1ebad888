"""The loop: it learns, selects, stops, resumes bit for bit, and says what went wrong."""

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time

import pytest
import torch
from safetensors.torch import load_file

from hybonet.training import Interrupted, LoopSettings, ScheduleSettings, Trainer, TrainingDiverged
from hybonet.training.processes import Processes, joined_processes
from tests.training.toy import StopAt, ToyTask


def weights(folder):
    return load_file(folder / "checkpoint.safetensors")


def assert_same(first, second):
    assert first.keys() == second.keys()
    for name, value in first.items():
        assert torch.equal(value, second[name]), name


def fit(folder, *, resume=False, reporter=None, **settings):
    folder.mkdir(exist_ok=True)
    task = ToyTask(LoopSettings(**{"epochs": 6, "validate_every": 2, **settings}))
    return Trainer(task, folder, reporter=reporter).fit(resume=resume)


def test_it_learns_and_keeps_the_best(tmp_path):
    result = fit(tmp_path, epochs=40)
    assert result.best["accuracy"] > 0.9
    assert result.history[-1]["loss"] < 0.5 * result.history[0]["loss"]
    assert result.best_epoch in {row["epoch"] for row in result.history if "accuracy" in row}
    saved = load_file(tmp_path / "model.safetensors")
    assert_same(saved, dict(result.model.state_dict()))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("at", [1, 4, 5, 13])
def test_interrupted_and_resumed_equals_uninterrupted(tmp_path, at, number):
    straight = fit(tmp_path / "straight")
    with pytest.raises(Interrupted, match=f"stopped by {number.name}.*go on with"):
        fit(tmp_path / "stopped", reporter=StopAt(at, number))
    again = fit(tmp_path / "stopped", resume=True)
    assert_same(weights(tmp_path / "straight"), weights(tmp_path / "stopped"))
    keep = [{k: v for k, v in row.items() if "seconds" not in k} for row in straight.history]
    assert keep == [{k: v for k, v in row.items() if "seconds" not in k} for row in again.history]


def test_killed_at_any_moment_and_resumed_equals_uninterrupted(tmp_path):
    """SIGKILL gives no chance to save: the run goes on from its last checkpoint."""
    fit(tmp_path / "straight", epochs=8)
    script = tmp_path / "train.py"
    script.write_text(
        textwrap.dedent(
            """
            import sys
            import time
            from pathlib import Path
            from hybonet.training import LoopSettings, Trainer
            from tests.training.toy import ToyTask
            settings = LoopSettings(epochs=8, validate_every=2, checkpoint_seconds=0.0)
            Trainer(ToyTask(settings, pause=0.02), Path(sys.argv[1])).fit(resume=True)
            """
        )
    )
    folder = tmp_path / "killed"
    folder.mkdir()
    environment = {**os.environ, "PYTHONPATH": os.getcwd(), "OMP_NUM_THREADS": "1"}
    kills = 0
    for moment in (0.05, 0.3, None):
        process = subprocess.Popen([sys.executable, str(script), str(folder)], env=environment)
        if moment is None:
            assert process.wait(timeout=120) == 0
            break
        deadline = time.monotonic() + 60
        before = (folder / "checkpoint.safetensors").stat().st_mtime_ns if kills else None
        while time.monotonic() < deadline and process.poll() is None:  # wait until it trains, then for the moment
            path = folder / "checkpoint.safetensors"
            if path.exists() and path.stat().st_mtime_ns != before:
                break
            time.sleep(0.005)
        time.sleep(moment)
        kills += process.poll() is None
        process.kill()
        process.wait()
    assert kills >= 2
    assert_same(weights(tmp_path / "straight"), weights(folder))


def test_resume_of_a_finished_run_changes_nothing(tmp_path):
    first = fit(tmp_path)
    before = weights(tmp_path)
    second = fit(tmp_path, resume=True)
    assert_same(before, weights(tmp_path))
    timeless = [{name: value for name, value in each.best.items() if "seconds" not in name} for each in (first, second)]
    assert timeless[0] == timeless[1]


def test_a_finished_run_with_more_epochs_equals_one_that_had_them_from_the_start(tmp_path):
    fit(tmp_path / "longer", epochs=4)
    longer = fit(tmp_path / "longer", epochs=7, resume=True)
    fit(tmp_path / "straight", epochs=7)
    assert longer.epochs == 7
    assert_same(weights(tmp_path / "longer"), weights(tmp_path / "straight"))


def test_a_schedule_over_the_whole_training_follows_the_new_number_of_epochs(tmp_path):
    schedule = {"kind": "linear"}
    fit(tmp_path, epochs=3, schedule=schedule)
    longer = fit(tmp_path, epochs=6, schedule=schedule, resume=True)
    straight = fit(tmp_path / "straight", epochs=6, schedule=schedule)
    assert [row["lr"] for row in longer.history[3:]] == [row["lr"] for row in straight.history[3:]]
    assert longer.history[2]["lr"] < straight.history[2]["lr"]


def test_a_run_out_of_patience_goes_on_with_more(tmp_path):
    first = fit(tmp_path, epochs=200, validate_every=1, patience=3)
    assert fit(tmp_path, epochs=200, validate_every=1, patience=3, resume=True).epochs == first.epochs
    assert fit(tmp_path, epochs=200, validate_every=1, patience=5, resume=True).epochs >= first.epochs + 2


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"seed": 1}, "seed=0 instead of 1"),
        ({"precision": "bfloat16"}, "precision=float32 instead of bfloat16"),
        ({"schedule": ScheduleSettings(kind="linear")}, "schedule.kind=constant instead of linear"),
    ],
)
def test_another_run_does_not_go_on_from_a_checkpoint(tmp_path, change, told):
    fit(tmp_path)
    with pytest.raises(ValueError, match=f"expected a checkpoint of this run, got one of a run with {told};"):
        fit(tmp_path, resume=True, epochs=9, **change)


def test_a_lost_history_is_no_obstacle(tmp_path):
    first = fit(tmp_path)
    (tmp_path / "history.jsonl").unlink()
    assert fit(tmp_path, resume=True).best["accuracy"] == first.best["accuracy"]


def test_history_is_one_line_an_epoch_even_after_a_crash_between_line_and_checkpoint(tmp_path):
    with pytest.raises(Interrupted):
        fit(tmp_path, reporter=StopAt(12))
    with open(tmp_path / "history.jsonl", "a") as file:
        file.write('{"epoch": 3, "loss": 123}\n')
    result = fit(tmp_path, resume=True)
    assert [row["epoch"] for row in result.history] == [1, 2, 3, 4, 5, 6]
    assert all(row["loss"] != 123 for row in result.history)


def test_time_stops_after_a_whole_epoch_with_a_validation(tmp_path):
    result = fit(tmp_path, epochs=200, validate_every=50, minutes=1e-9)
    assert (result.epochs, result.stopped_early) == (1, True)
    assert "accuracy" in result.history[-1]
    assert fit(tmp_path, epochs=3, validate_every=50, minutes=None, resume=True).epochs == 3


def test_patience_stops_early(tmp_path):
    result = fit(tmp_path, epochs=200, validate_every=1, patience=3)
    assert result.stopped_early
    assert result.epochs == result.best_epoch + 3


def test_accumulated_batches_make_one_update(tmp_path):
    steps = []

    class Counting(ToyTask):
        def build_optimizer(self, model):
            optimizer = super().build_optimizer(model)
            original = optimizer.step
            optimizer.step = lambda *a, **k: (steps.append(1), original(*a, **k))[1]
            return optimizer

    Trainer(Counting(LoopSettings(epochs=2, accumulate=2)), tmp_path).fit()
    assert len(steps) == 2 * 3  # five batches: 2 + 2 + 1


def test_non_finite_loss_names_step_and_parameter(tmp_path):
    task = ToyTask(LoopSettings(epochs=3), poison=7)
    with pytest.raises(TrainingDiverged, match=r"loss became nan at epoch \d, batch \d: the gradient of parameter"):
        Trainer(task, tmp_path).fit()


def test_damaged_and_foreign_checkpoints_are_refused(tmp_path):
    fit(tmp_path)
    (tmp_path / "checkpoint.safetensors").write_bytes(b"not a checkpoint")
    with pytest.raises(ValueError, match=r"expected a checkpoint, got a damaged one .* in a new folder"):
        fit(tmp_path, resume=True)


def test_bfloat16_trains(tmp_path):
    result = fit(tmp_path, epochs=30, precision="bfloat16")
    assert result.best["accuracy"] > 0.8
    assert all(parameter.dtype == torch.float32 for parameter in result.model.parameters())


def test_accumulated_batches_weigh_the_same_to_the_end_of_an_epoch(tmp_path):
    """Five batches by fours: the second update of an epoch is the mean of what is left, one batch."""

    def gradients(accumulate):
        seen = []

        class Still(ToyTask):
            def build_model(self):
                model = super().build_model()
                model.linear.dropout = 0.0
                return model

            def build_optimizer(self, model):
                optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
                optimizer.register_step_pre_hook(lambda *_: seen.append(model.linear.weight.grad.clone()))
                return optimizer

        Trainer(Still(LoopSettings(epochs=1, accumulate=accumulate)), tmp_path / str(accumulate)).fit()
        return seen

    for accumulate in (1, 4, 8):
        (tmp_path / str(accumulate)).mkdir()
    single = gradients(1)
    torch.testing.assert_close(gradients(4), [torch.stack(single[:4]).mean(0), single[4]])
    torch.testing.assert_close(gradients(8), [torch.stack(single).mean(0)])


def test_gradient_clipping_bounds_what_the_optimiser_sees(tmp_path):
    seen = []

    class Watching(ToyTask):
        def build_optimizer(self, model):
            optimizer = super().build_optimizer(model)
            optimizer.register_step_pre_hook(
                lambda *_: seen.append(sum(p.grad.square().sum() for p in model.parameters()).item() ** 0.5)
            )
            return optimizer

    Trainer(Watching(LoopSettings(epochs=2, max_grad_norm=0.01)), tmp_path).fit()
    assert max(seen) < 0.05


def test_two_processes_train_as_one(tmp_path):
    """Under torchrun each process takes its share of every batch; the weights are those of one process.

    With dropout each draws its own random numbers, the same after a stop as without one.
    """
    script = tmp_path / "train.py"
    script.write_text(
        textwrap.dedent(
            """
            import sys
            import time
            from pathlib import Path
            import torch
            from hybonet.training import Interrupted, LoopSettings, Trainer
            from hybonet.training.processes import process_count
            from tests.training.toy import StopAt, ToyTask

            class Plain(ToyTask):
                def build_model(self):
                    model = super().build_model()
                    model.linear.dropout = 0.0
                    return model

            class Uneven(ToyTask):  # so that the processes do not draw equally many random numbers
                def batches(self, epoch, start, rank=0, world=1):
                    for batch in super().batches(epoch, start):
                        yield batch if world == 1 else batch[:4] if rank == 0 else batch[4:]

            class MainWritesLate(Trainer):
                def _save(self):
                    time.sleep(0.2)
                    super()._save()

            if process_count() > 1:
                torch.distributed.init_process_group("gloo")
            out = Path(sys.argv[1])
            result = MainWritesLate(Plain(LoopSettings(epochs=3, validate_every=1)), out).fit()
            assert "accuracy" in result.best, result.best
            settings = LoopSettings(epochs=2, validate_every=1)
            Trainer(Uneven(settings), out / "straight").fit()
            try:
                Trainer(Uneven(settings), out / "stopped", reporter=StopAt(7)).fit()
            except Interrupted:
                if process_count() > 1:
                    torch.distributed.barrier()  # the main process is still saving
                Trainer(Uneven(settings), out / "stopped").fit(resume=True)
            """
        )
    )
    environment = {**os.environ, "PYTHONPATH": os.getcwd(), "OMP_NUM_THREADS": "1"}
    for name, launcher in (
        ("one", [sys.executable]),
        ("two", [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]),
    ):
        for folder in ("straight", "stopped"):
            (tmp_path / name / folder).mkdir(parents=True)
        command = [*launcher, str(script), str(tmp_path / name)]
        for _ in range(3):
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
            if "SIGABRT" not in done.stderr:  # gloo's listener can abort as connections are made (pytorch/gloo#514)
                break
        assert done.returncode == 0, done.stderr[-6000:]
    one, two = load_file(tmp_path / "one/model.safetensors"), load_file(tmp_path / "two/model.safetensors")
    for name, value in one.items():
        torch.testing.assert_close(value, two[name], rtol=1e-4, atol=1e-5)
    for name in ("one", "two"):
        assert_same(weights(tmp_path / name / "straight"), weights(tmp_path / name / "stopped"))
    alone, together = (
        [json.loads(line) for line in (tmp_path / name / "history.jsonl").read_text().splitlines()]
        for name in ("one", "two")
    )
    assert [row["epoch"] for row in together] == [1, 2, 3]
    assert [row["loss"] for row in together] == pytest.approx([row["loss"] for row in alone], rel=1e-4)


def test_what_the_main_process_does_first_fails_in_all():
    class Heard(Processes):
        def agree(self, value):
            return "the disk is full" if value is None and not self.is_main else value

    def fail():
        raise OSError("the disk is full")

    done = []
    Heard(0, 2).main_first(lambda: done.append("main"))
    assert done == ["main"]
    for rank in (0, 1):
        with pytest.raises(ValueError, match="the disk is full"):
            Heard(rank, 2).main_first(fail)


def test_progress_on_a_pipe_is_a_line_a_validation(tmp_path, capsys):
    from hybonet.training import TerminalReporter

    fit(tmp_path, reporter=TerminalReporter(6))
    lines = capsys.readouterr().out.strip().splitlines()
    assert len(lines) == 3
    assert re.search(r"epoch\s+2/6 {2}loss [\d.]+ {2}accuracy [\d.]+ \(best [\d.]+\)", lines[0])


def test_progress_on_a_pipe_breaks_a_long_silence(tmp_path):
    from hybonet.training import TerminalReporter

    lines = []
    fit(tmp_path, epochs=1, reporter=TerminalReporter(1, (6, "rows/s"), lines.append, silence=0.0))
    assert len(lines) == 5 + 1, "a line a batch and one for the validation"
    assert re.fullmatch(r"epoch +1/1  loss [\d.]+  [\d,.]+ rows/s  up to \d+ s left", lines[0])
    assert lines[4].endswith("  up to 0 s left"), "after the last batch"


@pytest.mark.parametrize(("device", "rank", "chosen"), [("cuda", "3", 3), ("cuda:1", "3", 1), ("cpu", "3", None)])
def test_a_process_takes_the_gpu_that_is_its_own(device, rank, chosen, monkeypatch):
    taken = []
    monkeypatch.setenv("LOCAL_RANK", rank)
    monkeypatch.setattr(torch.cuda, "set_device", taken.append)
    with joined_processes(LoopSettings(device=device)) as processes:
        assert processes.world == 1
    assert taken == ([] if chosen is None else [chosen])
