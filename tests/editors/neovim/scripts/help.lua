local t = require('harness')

local plugin = vim.env.HOME .. '/fxlsp/editors/neovim'
local folder = vim.fn.tempname()
vim.fn.mkdir(folder .. '/doc', 'p')
vim.uv.fs_copyfile(plugin .. '/doc/fxlsp.txt', folder .. '/doc/fxlsp.txt')
vim.cmd.helptags(folder .. '/doc')
vim.opt.runtimepath:append(folder)

local commands = vim.fn.sort(vim.tbl_keys(require('fxlsp.commands').commands))
local page = table.concat(vim.fn.readfile(plugin .. '.md'), '\n')
local of_page = {}
for name in page:gmatch('`:Fxlsp!? (%l+)') do
  of_page[name] = true
end
t.equal(vim.fn.sort(vim.tbl_keys(of_page)), commands)
t.equal(
  vim.fn.sort(vim.fn.getcompletion(':Fxlsp-', 'help')),
  vim.tbl_map(function(name)
    return ':Fxlsp-' .. name
  end, commands)
)
-- No link leads nowhere.
local text = table.concat(vim.fn.readfile(plugin .. '/doc/fxlsp.txt'), '\n')
for tag in text:gmatch('|([^|%s]+)|') do
  t.equal(pcall(vim.cmd.help, tag), true)
end
