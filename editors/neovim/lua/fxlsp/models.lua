--- The models of a buffer, as its lenses tell them.

local M = {}

---@class fxlsp.Model
---@field name string `Outer.Inner`
---@field line integer from 0, where its lens stands

--- Those that have a lens with that command, in the order of the text.
---@param client vim.lsp.Client
---@param bufnr integer
---@param command string
---@return fxlsp.Model[]
function M.with(client, bufnr, command)
  local params = { textDocument = vim.lsp.util.make_text_document_params(bufnr) }
  local answer = client:request_sync('textDocument/codeLens', params, 1000, bufnr)
  local models = {} ---@type fxlsp.Model[]
  for _, lens in ipairs(answer and answer.result or {}) do
    if lens.command and lens.command.command == command then
      table.insert(models, { name = lens.data.name, line = lens.range.start.line })
    end
  end
  return models
end

--- The last of them that begins at or above a line; nil if none does.
---@param models fxlsp.Model[]
---@param line integer from 0
---@return string?
function M.at(models, line)
  local name = nil
  for _, model in ipairs(models) do
    if model.line <= line then
      name = model.name
    end
  end
  return name
end

return M
