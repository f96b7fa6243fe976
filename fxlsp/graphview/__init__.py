"""The graph of a report as a picture: a page that opens and closes modules, or an SVG file.

In: a report. Out: JSON of what is to be drawn (:mod:`~fxlsp.graphview.picture`) within one file that loads nothing.
Where it goes and how it looks is decided by the JavaScript in ``page/``; the layout is elkjs's.
"""
