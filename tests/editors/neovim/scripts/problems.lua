local t = require('harness')

local function problems()
  return vim.tbl_map(function(problem)
    return ('%d: %s'):format(problem.lnum + 1, problem.code)
  end, vim.diagnostic.get(0))
end

t.one_with(problems, '13: FX201')
t.cursor_at('layer(x)')
vim.lsp.buf.code_action({
  apply = true,
  filter = function(action)
    return action.title:find('ModuleList', 1, true) ~= nil
  end,
})
t.eventually(function()
  return vim.fn.search('nn.ModuleList(\\[', 'nw') > 0
end, 'the fix', function()
  return vim.api.nvim_buf_get_lines(0, 0, -1, false)
end)
t.eventually(function()
  return #problems() == 0
end, 'a file without problems', problems)
