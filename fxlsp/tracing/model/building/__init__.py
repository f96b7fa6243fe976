"""Construction of a model from its recipe.

In: a target with its recipe, and a loader. Out: the model, with the expressions that constructed and registered its
modules, or a failure with torch's message. Large tensors are fake if that works; nothing is traced here.
"""
