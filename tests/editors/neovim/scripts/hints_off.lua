local t = require('harness')

t.one_with(t.lenses, 'traceable')
t.equal(vim.lsp.inlay_hint.is_enabled({ bufnr = 0 }), false)
t.equal(t.hints(), {})
vim.lsp.inlay_hint.enable(true, { bufnr = 0 })
t.one_with(t.hints, '11: (2, 4)')
