--- A run of the user's own command, recorded in a terminal: the server says how, and runs nothing.

local server = require('fxlsp.server')

local M = {}

---@param run { argv: string[], cwd: string }
local function start(run)
  vim.cmd('botright new')
  vim.fn.jobstart(run.argv, { term = true, cwd = run.cwd })
end

--- Records the command, else that of the setting, else one that is asked for.
---@param client vim.lsp.Client
---@param bufnr integer
---@param command string?
function M.record(client, bufnr, command)
  local arguments = { vim.uri_from_bufnr(bufnr), command }
  server.execute(client, 'fxlsp.record', arguments, bufnr, function(run)
    -- The server has said why where there is none.
    if not run or run == vim.NIL then
      return
    end
    if #run.argv > 0 then
      start(run)
      return
    end
    vim.ui.input({ prompt = 'Command to record: ', completion = 'shellcmd' }, function(typed)
      if typed and vim.trim(typed) ~= '' then
        M.record(client, bufnr, typed)
      end
    end)
  end)
end

return M
