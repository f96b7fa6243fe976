local t = require('harness')

--- What the terminal shows, if there is one.
---@return string
local function terminal()
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if vim.bo[bufnr].buftype == 'terminal' then
      -- A line of the terminal may be two of the text.
      return table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false))
    end
  end
  return ''
end

t.one_with(t.lenses, 'call site train.py:5')
local window, asked = vim.api.nvim_get_current_win(), 0
---@diagnostic disable-next-line: duplicate-set-field
vim.ui.input = function(_, callback)
  asked = asked + 1
  callback('python train.py')
end
vim.cmd('Fxlsp record')
t.eventually(function()
  return terminal():find('recorded 1 model', 1, true) ~= nil
end, 'the end of the run', terminal)
t.equal(asked, 1)
vim.api.nvim_set_current_win(window)
t.one_with(t.lenses, 'recorded: train.py, ')
