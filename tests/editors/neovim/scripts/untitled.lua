local t = require('harness')

vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.split(vim.env.TEXT_OF_BUFFER, '\n'))
vim.bo.filetype = 'python'
t.equal(vim.api.nvim_buf_get_name(0), '')
t.one_with(t.lenses, 'traceable')
t.one_with(t.hints, '11: (2, 4)')
vim.bo.modified = false
