local t = require('harness')

t.one_with(t.hints, '(2, 4)')
t.cursor_at('self.fc(x)')
vim.lsp.buf.hover()
local words = t.eventually(function()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= '' then
      return table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false), '\n')
    end
  end
end, 'a window with the hover')
t.contains(words, 'Linear')
t.contains(words, '(2, 3) → (2, 4)')
