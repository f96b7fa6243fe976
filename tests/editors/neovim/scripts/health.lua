local t = require('harness')

local function report()
  vim.cmd('checkhealth fxlsp')
  local words = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  vim.cmd('bwipeout')
  return words
end

t.one_with(t.hints, '11: (2, 4)')
local words = report()
t.contains(words, 'OK enabled')
t.contains(words, 'bin/fxlsp')
t.contains(words, 'OK trusted')
t.contains(words, 'torch')
t.equal(words:find('ERROR'), nil)
t.equal(words:find('WARNING'), nil)

vim.lsp.enable('fxlsp', false)
t.eventually(function()
  return #vim.lsp.get_clients({ name = 'fxlsp' }) == 0
end, 'the end of the server')
vim.lsp.config('fxlsp', { cmd = { 'fxlsp-that-is-not-there', 'serve' } })
words = report()
t.contains(words, 'WARNING not enabled')
t.contains(words, 'ERROR fxlsp-that-is-not-there is not found')
