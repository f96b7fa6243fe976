"""Building of a model whose recipe may lack arguments or inputs, which a search finds."""

from __future__ import annotations

from typing import TypeGuard

from ..model.building.builder import NoModelError
from ..model.targets import ModelTarget, guess_of, targets_of
from ..search.api import RecipeSearch
from ..search.trials.budget import SECONDS
from ..search.trials.runner import RunConditions
from .load import BuiltModel, ModelFactory, RequestLoad
from .recipe_failures import with_furthest

_PART_OF_TRACE = 0.7
"""Of the time limit of a trace that a search may take where it only computes: a trace without inputs comes after it."""


class SearchingFactory:
    """Builds the models of a request, after a search for what their recipes lack.

    Only the two texts of the recipe remain of a search: files are loaded and the model is built again.
    """

    def __init__(self, load: RequestLoad, models: ModelFactory) -> None:
        self._models = models
        self._timing = load.timing
        self._loader = load.loader
        self._source_map = load.source_map
        self._sizes = load.request.sizes
        self._seconds = min(SECONDS, _PART_OF_TRACE * load.request.limits.seconds)
        self._guess = guess_of(load.request)
        self.target = next(targets_of(load.request))
        """The target that was built last, with what the search found of it; also if its model could not be built."""
        self.no_inputs: BaseException | None = None
        """How the furthest trial of a search failed that found no inputs."""

    def build(self, target: ModelTarget, real_tensors: bool) -> BuiltModel:
        """Return the model of a target.

        Raises:
            NoModelError: it can be made neither as stated nor with what the search found.
            FakesFailedError: it cannot be made of fake tensors.
        """
        self.target = target
        mode, builder, loaded = self._models.load(target, real_tensors)
        conditions = RunConditions(mode, self._source_map, real_tensors, self._sizes, self._seconds)
        lacking = RecipeSearch(target, loaded, conditions, self._guess)
        with self._timing.stage("search"):
            found = lacking.making()
        if found is not None and found.init is None and lacking.mistake is not None:
            raise builder.failed(lacking.mistake, is_proven=True) from lacking.mistake
        if found is not None and found.init is None and self._is_of_a_statement(lacking.error):
            # Whatever the arguments, a name is missing that a statement of the file should have bound.
            raise builder.failed(lacking.error) from lacking.error
        if found is None:
            try:
                with self._timing.stage("construct"):
                    built = builder.build(loaded)
            except NoModelError as refused:
                with self._timing.stage("search"):
                    found = lacking.instead(refused)
                if found is None:
                    omitted = lacking.omitted(refused.__cause__)
                    raise with_furthest(refused, lacking.error, target.name, omitted) from refused.__cause__
            else:
                with self._timing.stage("search"):
                    found = lacking.feed(built)
                self.no_inputs = lacking.error
                if found is None:
                    return BuiltModel(mode, builder, built)
        self.target = found
        self._loader.unload()
        try:
            return self._models.build(found, real_tensors)
        except NoModelError as refused:
            raise with_furthest(refused, lacking.error, found.name) from refused.__cause__

    def _is_of_a_statement(self, error: BaseException | None) -> TypeGuard[BaseException]:
        """Return whether an error is due to a statement at top level that failed, such as an import."""
        return error is not None and self._loader.cause_of(error) is not error
