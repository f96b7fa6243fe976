"""Names of the server's commands in ``workspace/executeCommand``.

They are public and do not change.
"""

TRUST = "fxlsp.trust"
RETRACE = "fxlsp.retrace"
RESTART = "fxlsp.restart"

LIST_RECIPES = "fxlsp.recipes"
CHOOSE_RECIPE = "fxlsp.chooseRecipe"
WRITE_RECIPE = "fxlsp.writeRecipe"

LIST_INSTANCES = "fxlsp.instances"
CHOOSE_INSTANCE = "fxlsp.chooseInstance"

SHOW_GRAPH = "fxlsp.showGraph"

COPY_COMMENT = "fxlsp.copyComment"
COPY_TABLE = "fxlsp.copyTable"

ASK_FRONTENDS = "fxlsp.askFrontends"

RECORD = "fxlsp.record"

INFORMATION = "fxlsp.information"
