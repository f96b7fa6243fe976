"""The graph of a report as a page that opens and closes modules, or as SVG.

In: a report. Out: JSON of what is to be drawn (:mod:`~fxlsp.graphview.picture`), embedded in one file that loads
nothing. The JavaScript in ``page/`` decides positions and looks; elkjs computes the layout.
"""
