local t = require('harness')

t.one_with(t.lenses, 'not traced: trust this workspace first')
-- Another answer about lenses comes after the one that could have led to a question.
vim.cmd('doautocmd InsertLeave')
t.client():request_sync('textDocument/codeLens', { textDocument = vim.lsp.util.make_text_document_params(0) }, 10000, 0)
t.equal(t.asked, {})
vim.cmd('Fxlsp trust')
t.one_with(t.hints, '11: (2, 4)')
