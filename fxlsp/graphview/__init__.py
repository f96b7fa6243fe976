"""The graph of a report as a picture: a page that opens and closes modules, or an SVG file.

Python makes of a report what is to be drawn (:mod:`~fxlsp.graphview.picture`). Where it goes and how it looks is said
by the JavaScript in ``page/``, which runs in a browser or, for SVG, in an embedded engine. The layout is elkjs's.
"""
