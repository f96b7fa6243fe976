if vim.g.loaded_fxlsp then
  return
end
vim.g.loaded_fxlsp = true

if vim.fn.has('nvim-0.11') == 0 then
  vim.notify_once('fxlsp needs Neovim 0.11 or later', vim.log.levels.ERROR)
  return
end

vim.api.nvim_create_user_command('Fxlsp', function(arguments)
  require('fxlsp.commands').run(arguments)
end, {
  nargs = '+',
  bang = true,
  desc = 'What fxlsp can do with the models of this buffer',
  complete = function(lead, line)
    return require('fxlsp.commands').complete(lead, line)
  end,
})

vim.api.nvim_create_autocmd('LspAttach', {
  group = vim.api.nvim_create_augroup('fxlsp', {}),
  desc = 'Show lenses and hints of fxlsp',
  callback = function(event)
    local client = vim.lsp.get_client_by_id(event.data.client_id)
    if client and client.name == 'fxlsp' then
      require('fxlsp.hints').attach(event.buf)
      require('fxlsp.lenses').attach(client, event.buf)
    end
  end,
})
