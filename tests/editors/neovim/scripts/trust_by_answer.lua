local t = require('harness')

t.select({ 'Trust it' })
vim.cmd.edit('net.py')
t.one_with(t.hints, '11: (2, 4)')
t.equal(#t.asked, 1)
