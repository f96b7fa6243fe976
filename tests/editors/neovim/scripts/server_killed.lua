local t = require('harness')

t.one_with(t.hints, '11: (2, 4)')
local old = t.client().id
-- The server is what Neovim started for the wrapper script, which became it.
local server = vim.api.nvim_get_proc_children(vim.uv.os_getpid())[1]
vim.uv.kill(server, 'sigkill')
t.eventually(function()
  return vim.lsp.get_client_by_id(old) == nil
end, 'the end of the server')
