--- What the server is doing and with what, in a window of its own.

local M = {}

---@param text string
local function show(text)
  vim.cmd('botright new')
  local bufnr = vim.api.nvim_get_current_buf()
  vim.bo[bufnr].buftype = 'nofile'
  vim.bo[bufnr].bufhidden = 'wipe'
  vim.bo[bufnr].swapfile = false
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, vim.split(vim.trim(text), '\n'))
  vim.bo[bufnr].modifiable = false
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = bufnr, desc = 'Close' })
end

---@param client vim.lsp.Client
---@param bufnr integer
function M.show(client, bufnr)
  require('fxlsp.server').execute(client, 'fxlsp.information', {}, bufnr, function(facts)
    show(facts.text)
  end)
end

return M
