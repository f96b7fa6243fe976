"""From the text of a request to a model that is built, recorded, and computed with.

In: a target with its recipe, and the texts of the editor. Out: the model, its graph with the values of all nodes, and
where in the text each came from; or what is wrong with it. Nothing here guesses what the text does not state.
"""
