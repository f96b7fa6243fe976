"""From a recipe to a constructed model.

In: a loaded file, a target and its recipe. Out: the model, with the expressions that made and registered its modules,
or a failure in torch's own words. Large tensors are fake where that works; no step of a pass happens here.
"""
