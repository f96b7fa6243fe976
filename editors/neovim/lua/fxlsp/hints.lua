--- Hints: the shapes at the ends of lines. `vim.g.fxlsp_hints = false` leaves them to `vim.lsp.inlay_hint.enable`.

local M = {}

---@param bufnr integer
function M.attach(bufnr)
  if vim.g.fxlsp_hints ~= false then
    vim.lsp.inlay_hint.enable(true, { bufnr = bufnr })
  end
end

--- Asks for hints again. Neovim's own handler leaves old hints on the screen when that is redrawn before the new ones
--- arrive.
---@type lsp.Handler
function M.on_refresh(_, _, ctx)
  for _, bufnr in ipairs(vim.lsp.get_buffers_by_client_id(ctx.client_id)) do
    if vim.lsp.inlay_hint.is_enabled({ bufnr = bufnr }) then
      vim.lsp.inlay_hint.enable(false, { bufnr = bufnr })
      vim.lsp.inlay_hint.enable(true, { bufnr = bufnr })
    end
  end
  return vim.NIL
end

return M
