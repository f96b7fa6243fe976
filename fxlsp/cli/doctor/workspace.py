"""The models of the workspace, and the profile of problems in an editor."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from fxlsp.cli.doctor.finding import DoctorFinding
from fxlsp.cli.tracing.targets import index_folders
from fxlsp.cli.tracing.workspace_files import is_excluded
from fxlsp.engine.index.index import Index, SymbolId
from fxlsp.engine.index.scan import read_index
from fxlsp.engine.running.fx_usage import first_use
from fxlsp.engine.settings.settings import Settings
from fxlsp.engine.storage.recordings import recordings_around
from fxlsp.ide.render.numbers import counted
from fxlsp.ide.trace_view.provenance import recorded_text
from fxlsp.recording.recording_file import RecordingError, read_recording
from fxlsp.source.recipes.recipes import RecordedRun
from fxlsp.source.text.class_kind import ClassKind


def workspace(folder: str) -> tuple[Index, DoctorFinding]:
    """Return the index of the project around ``folder``, and its number of models."""
    folders = index_folders([folder])
    began = time.monotonic()
    index = read_index(folders, is_excluded=is_excluded)
    milliseconds = (time.monotonic() - began) * 1000
    models = {path: names for path, names in _models(index).items() if names}
    where = ", ".join(folders)
    if not models:
        advice = "name the folder of your models: fxlsp doctor PATH"
        return index, DoctorFinding(
            "workspace", "warning", f"no class below {where} is a torch.nn.Module", advice=advice
        )
    classes = counted(sum(map(len, models.values())), "model")
    held = f"{classes} in {counted(len(models), 'file')} below {where}"
    return index, DoctorFinding("workspace", "ok", f"{held}, read in {milliseconds:.0f} ms")


def recordings(folder: str) -> Iterator[DoctorFinding]:
    """Yield what each recording of the project around ``folder`` has, or why it cannot be read."""
    for path, _ in recordings_around(os.path.join(folder, "_")):
        try:
            found = read_recording(path)
        except FileNotFoundError:
            continue
        except RecordingError as error:
            advice = "delete it, and record a run again: fxlsp record -- python train.py"
            yield DoctorFinding("recording", "warning", str(error), advice=advice)
            continue
        models = len({(each.file, each.name) for each in found})
        last = f", last {recorded_text(RecordedRun(found[0].source, found[0].time))}" if found else ""
        yield DoctorFinding("recording", "ok", f"{counted(models, 'model')} in {path}{last}")


def _models(index: Index) -> dict[str, list[str]]:
    return {
        path: [name for name in offers.by_name if index.kind_of(SymbolId(path, name)) is ClassKind.MODULE]
        for path, offers in index.files.items()
    }


def profile(folder: str, settings: Settings) -> DoctorFinding:
    """Return whether problems of torch.fx alone are problems or hints in an editor."""
    if settings.profile != "auto":
        return DoctorFinding("profile", "ok", f"{settings.profile}, as the settings say")
    use = first_use(folder, is_excluded=settings.exclude)
    if use is None:
        return DoctorFinding("profile", "ok", "shapes in an editor, since no file uses torch.fx; fx for commands")
    return DoctorFinding("profile", "ok", f"fx, since {os.path.relpath(use.path, folder)} uses {use.words}")
