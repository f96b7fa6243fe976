--- Which roots may be run: asked once for each, and remembered.
---
--- A server that was given no root serves loose files of any folder. What is said about those holds until Neovim ends.

local server = require('fxlsp.server')

local M = {}

--- What was decided, or asked without an answer, since Neovim started.
---@type table<string, boolean>
local of_session = {}

---@return string
local function store()
  return vim.fs.joinpath(vim.fn.stdpath('state'), 'fxlsp', 'trust.json')
end

---@return table<string, boolean> by root
local function read()
  local file = io.open(store())
  if not file then
    return {}
  end
  local ok, decisions = pcall(vim.json.decode, file:read('*a'))
  file:close()
  return ok and type(decisions) == 'table' and decisions or {}
end

--- Raises where the file cannot be written.
---@param root string
---@param decision boolean?
local function write(root, decision)
  local path = store()
  vim.fn.mkdir(vim.fs.dirname(path), 'p')
  local decisions = read()
  decisions[root] = decision
  -- Another Neovim may read it meanwhile: it sees the old file or the new one.
  local new = path .. '.' .. vim.uv.os_getpid()
  local file = assert(io.open(new, 'w'))
  file:write(vim.json.encode(next(decisions) and decisions or vim.empty_dict()))
  file:close()
  assert(vim.uv.fs_rename(new, path))
end

---@param root string?
---@return string
local function key(root)
  return root and (vim.uv.fs_realpath(root) or vim.fs.normalize(root)) or ''
end

---@param root string?
---@param decision boolean?
local function remember(root, decision)
  of_session[key(root)] = decision
  if root then
    local ok, err = pcall(write, key(root), decision)
    if not ok then
      server.notify('this is not remembered: ' .. err, vim.log.levels.WARN)
    end
  end
end

--- What was decided about a root; nil where nothing was.
---@param root string?
---@return boolean?
function M.decision(root)
  local here = of_session[key(root)]
  if here ~= nil then
    return here
  end
  if root then
    return read()[key(root)]
  end
end

--- For `before_init`: says in the first message whether the root is trusted. Without an answer fxlsp would look into
--- a store of its own, which other editors use.
---@param params lsp.InitializeParams
---@param config vim.lsp.ClientConfig
function M.tell(params, config)
  params.initializationOptions = vim.tbl_extend(
    'keep',
    params.initializationOptions or {},
    { trusted = M.decision(config.root_dir) == true }
  )
end

---@param client vim.lsp.Client
function M.grant(client)
  remember(client.root_dir, true)
  server.execute(client, 'fxlsp.trust', {}, vim.api.nvim_get_current_buf())
end

--- Takes back what was decided about the root. It is the caller's to start the server anew.
---@param client vim.lsp.Client
function M.forget(client)
  remember(client.root_dir, nil)
end

--- Asks whether the root is trusted, if lenses show that something waits for that and nobody has said yet.
---@param client vim.lsp.Client
---@param lenses lsp.CodeLens[]
function M.ask_if_wanted(client, lenses)
  local wanted = vim.iter(lenses):any(function(lens)
    return lens.command and lens.command.command == 'fxlsp.trust'
  end)
  if not wanted or M.decision(client.root_dir) ~= nil then
    return
  end
  -- Not asked again, whatever becomes of this question.
  of_session[key(client.root_dir)] = false
  local what = client.root_dir or 'files that belong to no project'
  vim.ui.select({ 'Trust it', 'Do not trust it' }, {
    prompt = ('fxlsp runs the models of %s to trace them. Do you trust what is there?'):format(what),
  }, function(_, number)
    if number == 1 then
      M.grant(client)
    elseif number == 2 then
      remember(client.root_dir, false)
    end
  end)
end

return M
