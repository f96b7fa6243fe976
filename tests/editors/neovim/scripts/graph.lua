local t = require('harness')

t.one_with(t.lenses, 'traceable')
t.cursor_at('self.fc(x)')
vim.cmd('Fxlsp graph')
local uri = t.eventually(function()
  return t.opened[1]
end, 'a page', function()
  return t.said
end)
t.contains(uri, 'fc')
t.equal(vim.fn.filereadable(vim.uri_to_fname((uri:gsub('#.*', '')))), 1)
vim.cmd('Fxlsp graph Net')
t.eventually(function()
  return t.opened[2]
end, 'another page')

-- Where nothing opens pages, the user is told where this one is.
vim.ui.open = function()
  return nil, 'no handler found'
end
vim.cmd('Fxlsp graph')
t.eventually(function()
  return vim.iter(t.said):find(function(words)
    return words:find('the graph is in .*%.html') ~= nil
  end)
end, 'where the page is', function()
  return t.said
end)
