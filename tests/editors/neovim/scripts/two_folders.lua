local t = require('harness')

local function told()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    local bufnr = vim.api.nvim_win_get_buf(window)
    if vim.bo[bufnr].buftype == 'nofile' then
      return table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), '\n')
    end
  end
end

for _, folder in ipairs({ 'one', 'other' }) do
  vim.cmd.edit(folder .. '/net.py')
  t.one_with(t.lenses, 'traceable')
  t.one_with(t.hints, '11: (2, 4)')
  vim.cmd('Fxlsp info')
  t.contains(t.eventually(told, 'what the server says'), ('project/%s/.venv/bin/python'):format(folder))
  vim.cmd.close()
end
t.equal(#vim.lsp.get_clients({ name = 'fxlsp' }), 2)
