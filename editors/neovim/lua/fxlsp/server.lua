--- The server of a buffer, and what is asked of it.

local M = {}

--- The client of the buffer, or nil.
---@param bufnr integer
---@return vim.lsp.Client?
function M.client(bufnr)
  return vim.lsp.get_clients({ bufnr = bufnr, name = 'fxlsp' })[1]
end

---@param message string
---@param level integer? of vim.log.levels, by default INFO
function M.notify(message, level)
  vim.notify('fxlsp: ' .. message, level or vim.log.levels.INFO)
end

--- Has the server execute a command of its own, and hands on what it returns.
---@param client vim.lsp.Client
---@param command string
---@param arguments any[]
---@param bufnr integer
---@param callback fun(result: any)?
function M.execute(client, command, arguments, bufnr, callback)
  -- Not by exec_cmd, which would find the client's own command of the same name.
  client:request('workspace/executeCommand', { command = command, arguments = arguments }, function(err, result)
    if err then
      M.notify(err.message, vim.log.levels.ERROR)
    elseif callback then
      callback(result)
    end
  end, bufnr)
end

return M
