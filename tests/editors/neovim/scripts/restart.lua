local t = require('harness')

local function process()
  local client = t.client()
  local answer = client:request_sync('workspace/executeCommand', { command = 'fxlsp.information' }, 10000)
  assert(answer and answer.result, vim.inspect(answer))
  return client.rpc
end

t.one_with(t.hints, '11: (2, 4)')
local old = t.client().id
process()
vim.cmd('Fxlsp restart')
t.eventually(function()
  return t.client().id ~= old
end, 'another server')
t.equal(#vim.lsp.get_clients({ name = 'fxlsp' }), 1)
t.one_with(t.hints, '11: (2, 4)')
t.one_with(t.lenses, 'traceable')
