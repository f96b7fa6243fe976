local t = require('harness')

t.equal(vim.fn.getcompletion('Fxlsp ', 'cmdline'), {
  'ask',
  'graph',
  'info',
  'instance',
  'recipe',
  'record',
  'restart',
  'retrace',
  'trust',
})
t.equal(vim.fn.getcompletion('Fxlsp re', 'cmdline'), { 'recipe', 'record', 'restart', 'retrace' })
t.one_with(t.lenses, '10: first (+2 more)')
t.equal(vim.fn.getcompletion('Fxlsp graph ', 'cmdline'), { 'Net' })
t.equal(vim.fn.getcompletion('Fxlsp recipe N', 'cmdline'), { 'Net' })
t.equal(vim.fn.getcompletion('Fxlsp instance ', 'cmdline'), { 'Down' })
t.equal(vim.fn.getcompletion('Fxlsp trust ', 'cmdline'), { 'forget' })
t.equal(vim.fn.getcompletion('Fxlsp restart ', 'cmdline'), {})
vim.cmd('Fxlsp nonsense')
t.equal(t.said[#t.said], 'fxlsp: there is no `:Fxlsp nonsense`')

-- The status line has what it needs by now.
t.eventually(function()
  return require('fxlsp').status():find('^fxlsp: torch %d') ~= nil
end, 'the status', require('fxlsp').status)
