local t = require('harness')

t.one_with(t.hints, '11: (2, 4)')
t.equal(t.asked, {})

t.select({})
vim.cmd('Fxlsp trust forget')
t.one_with(t.lenses, 'not traced: trust this workspace first')
t.eventually(function()
  return #t.asked == 1
end, 'the question anew')
