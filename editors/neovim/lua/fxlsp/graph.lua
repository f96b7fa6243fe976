--- The graph of a model, in the browser.

local server = require('fxlsp.server')

local M = {}

--- Opens the page.
---
--- Not by the server's `window/showDocument`: Neovim ends what opens the page if that takes longer than two seconds, as a
--- browser does that was not running.
---@param client vim.lsp.Client
---@param bufnr integer
---@param arguments any[] of `fxlsp.showGraph`
function M.show(client, bufnr, arguments)
  local uri, name, options = arguments[1], arguments[2], arguments[3]
  local given = { uri, name or vim.NIL, vim.tbl_extend('force', options or {}, { show = false }) }
  server.execute(client, 'fxlsp.showGraph', given, bufnr, function(page)
    -- The server has said why where there is none.
    if page and page ~= vim.NIL then
      if not vim.ui.open(page.uri) then
        server.notify('the graph is in ' .. page.path)
      end
    end
  end)
end

return M
