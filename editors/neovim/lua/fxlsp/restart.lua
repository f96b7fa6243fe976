--- Ends the servers and starts them anew.

local M = {}

local PATIENCE = 5000
--- Milliseconds after which a server that does not answer shutdown is killed.

--- Also starts what was killed.
function M.restart()
  local clients = vim.lsp.get_clients({ name = 'fxlsp', _uninitialized = true })
  vim.lsp.enable('fxlsp', false)
  local function all_ended()
    return vim.iter(clients):all(function(client)
      return vim.lsp.get_client_by_id(client.id) == nil
    end)
  end
  if not vim.wait(PATIENCE, all_ended, 20) then
    vim.lsp.stop_client(clients, true)
    vim.wait(PATIENCE, all_ended, 20)
  end
  vim.lsp.enable('fxlsp')
end

return M
