--- What a configuration may call. Nothing has to be.

local M = {}

--- How the session of a buffer stands, for a status line: `fxlsp: tracing Net`. Empty where there is no server.
---@param bufnr integer? by default the current one
---@return string
function M.status(bufnr)
  return require('fxlsp.status').text(bufnr or vim.api.nvim_get_current_buf())
end

return M
