--- State of the session in a few words for a status line.

local M = {}

---@type table<integer, table> by client
local status_of = {}

---@type lsp.Handler
function M.on_status(_, status, ctx)
  status_of[ctx.client_id] = status
  vim.cmd.redrawstatus({ bang = true })
end

---@param status table
---@return string
local function words(status)
  if not status.trusted then
    return 'not trusted'
  end
  for _, interpreter in ipairs(status.interpreters) do
    if interpreter.failure then
      return 'no interpreter'
    end
  end
  if #status.tracing > 0 then
    return 'tracing ' .. table.concat(status.tracing, ', ')
  end
  if #status.stale > 0 then
    return 'stale: ' .. table.concat(status.stale, ', ')
  end
  local torch = (status.interpreters[1] or {}).torch
  return torch and 'torch ' .. torch or 'ready'
end

--- Of the server of a buffer; empty where there is none.
---@param bufnr integer
---@return string
function M.text(bufnr)
  local client = require('fxlsp.server').client(bufnr)
  local status = client and status_of[client.id]
  return status and 'fxlsp: ' .. words(status) or ''
end

return M
