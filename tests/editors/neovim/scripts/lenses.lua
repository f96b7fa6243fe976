local t = require('harness')

local traced = {}
local client = t.client()
local on_status = client.handlers['fxlsp/status']
client.handlers['fxlsp/status'] = function(err, status, ctx)
  vim.list_extend(traced, status.tracing)
  return on_status(err, status, ctx)
end

t.one_with(t.lenses, '5: 3 nodes · 16 parameters')
t.one_with(t.lenses, 'recipe: Net()(torch.randn(2, 3)) · call site net.py:14')

-- Each command of a lens.
local function has_ended()
  t.eventually(function()
    return require('fxlsp').status():find('torch') ~= nil
  end, 'the end of the trace', require('fxlsp').status)
end
local function is_traced_again()
  t.eventually(function()
    return vim.tbl_contains(traced, 'Net')
  end, 'another trace')
  has_ended()
end

-- The lens is there before the trace has ended, and a trace that follows at once is no other status.
has_ended()
traced = {}
t.run_lens('class Net', 'traceable')
is_traced_again()
for _, command in ipairs({ 'Fxlsp retrace', 'Fxlsp! retrace' }) do
  traced = {}
  vim.cmd(command)
  is_traced_again()
end
t.one_with(t.lenses, 'traceable')

t.run_lens('class Net', 'graph')
t.eventually(function()
  return t.opened[1]
end, 'a page', function()
  return t.said
end)
t.contains(t.opened[1], 'file://')
t.contains(t.opened[1], '.html')

t.run_lens('class Net', 'recipe:', 'Write it as a comment')
t.eventually(function()
  return vim.api.nvim_buf_get_lines(0, 4, 5, false)[1] == '# fxlsp: Net()(torch.randn(2, 3))'
end, 'a comment', function()
  return vim.api.nvim_buf_get_lines(0, 0, -1, false)
end)
t.one_with(t.lenses, '6: 3 nodes')
t.one_with(t.lenses, 'recipe: Net()(torch.randn(2, 3)) · comment')

-- What is typed has its lens once insert mode is left.
vim.bo.indentexpr = ''
vim.bo.autoindent = false
local typed = 'Goclass More(nn.Module):\n    def forward(self, x):\n        return x + 1\27'
vim.api.nvim_feedkeys(typed, 'tx', false)
t.one_with(t.lenses, '16: ')
