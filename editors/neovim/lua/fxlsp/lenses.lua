--- Lenses, asked for when they may have changed.
---
--- Neovim 0.11 shows lenses but neither asks for them by itself nor knows the server's request to do so. Later ones do
--- both (`vim.lsp.codelens.enable`) and are left to it.

local M = {}

local knows_refresh = vim.lsp.codelens.enable ~= nil

local group = vim.api.nvim_create_augroup('fxlsp.lenses', {})

---@param client vim.lsp.Client
---@param bufnr integer
local function refresh(client, bufnr)
  if not vim.api.nvim_buf_is_loaded(bufnr) then
    return
  end
  local params = { textDocument = vim.lsp.util.make_text_document_params(bufnr) }
  -- Not by `vim.lsp.codelens.refresh`: that never asks again for a buffer whose last request was not answered, as when
  -- a server was killed.
  client:request('textDocument/codeLens', params, function(err, result, ctx)
    if not knows_refresh then
      vim.lsp.codelens.on_codelens(err, result, ctx)
    end
    require('fxlsp.trust').ask_if_wanted(client, result or {})
  end, bufnr)
end

---@param client vim.lsp.Client
---@param bufnr integer
function M.attach(client, bufnr)
  if knows_refresh then
    vim.lsp.codelens.enable(true, { bufnr = bufnr })
  end
  vim.api.nvim_clear_autocmds({ group = group, buffer = bufnr })
  vim.api.nvim_create_autocmd({ 'InsertLeave', 'TextChanged' }, {
    group = group,
    buffer = bufnr,
    desc = 'Ask fxlsp for lenses',
    callback = function()
      local present = require('fxlsp.server').client(bufnr)
      if present then
        refresh(present, bufnr)
      end
    end,
  })
  refresh(client, bufnr)
end

--- To be announced to the server.
M.capabilities = knows_refresh and {} or { workspace = { codeLens = { refreshSupport = true } } }

--- For what the server then sends.
---@type table<string, lsp.Handler>
M.handlers = knows_refresh and {}
  or {
    ['workspace/codeLens/refresh'] = function(_, _, ctx)
      local client = vim.lsp.get_client_by_id(ctx.client_id)
      if client then
        for bufnr in pairs(client.attached_buffers) do
          refresh(client, bufnr)
        end
      end
      return vim.NIL
    end,
  }

return M
