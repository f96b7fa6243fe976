-- The configuration that `vim.lsp.enable('fxlsp')` starts. `vim.lsp.config('fxlsp', { ... })` changes any of it.

---@type vim.lsp.Config
return {
  cmd = { 'fxlsp', 'serve' },
  filetypes = { 'python' },
  root_markers = { 'pyproject.toml', 'setup.py', 'setup.cfg', 'requirements.txt', '.git' },
  capabilities = vim.tbl_deep_extend('force', require('fxlsp.lenses').capabilities, {
    experimental = { fxlspStatus = true },
  }),
  handlers = vim.tbl_extend('error', require('fxlsp.lenses').handlers, {
    ['workspace/inlayHint/refresh'] = require('fxlsp.hints').on_refresh,
    ['fxlsp/status'] = require('fxlsp.status').on_status,
  }),
  -- What a lens does; what is not here is done by the server.
  commands = {
    ['fxlsp.trust'] = function(_, ctx)
      require('fxlsp.trust').grant(assert(vim.lsp.get_client_by_id(ctx.client_id)))
    end,
    ['fxlsp.showGraph'] = function(command, ctx)
      local client = assert(vim.lsp.get_client_by_id(ctx.client_id))
      require('fxlsp.graph').show(client, ctx.bufnr, command.arguments)
    end,
  },
  before_init = function(params, config)
    require('fxlsp.trust').tell(params, config)
  end,
}
