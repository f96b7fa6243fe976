local t = require('harness')

t.select({ 'Do not trust it' })
vim.cmd.edit('net.py')
t.eventually(function()
  return t.asked[1]
end, 'a question')
t.one_with(t.lenses, 'not traced: trust this workspace first')
