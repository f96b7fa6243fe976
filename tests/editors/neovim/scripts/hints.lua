local t = require('harness')

t.one_with(t.hints, '11: (2, 4)')
t.cursor_at('nn.Linear')
vim.cmd('substitute/3, 4/3, 7/')
t.one_with(t.hints, '11: (2, 7)')
t.equal(vim.fn.readfile('net.py')[8], '        self.fc = nn.Linear(3, 4)')
