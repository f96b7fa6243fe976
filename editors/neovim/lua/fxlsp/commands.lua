--- `:Fxlsp`.

local models = require('fxlsp.models')
local server = require('fxlsp.server')

local M = {}

---@class fxlsp.Request
---@field client vim.lsp.Client
---@field bufnr integer
---@field uri string
---@field argument string?
---@field rest string? everything behind the name, as it was typed
---@field bang boolean

---@class fxlsp.Command
---@field run fun(request: fxlsp.Request)
---@field about string? the command whose lens a model has that can be named
---@field words string[]? what can be said otherwise
---@field without_server boolean?

--- Has the server do something with the named model, else with the one at the cursor; else it asks which.
---@param command string
---@param lens string? the command whose lens the models have, if that is another one
---@return fun(request: fxlsp.Request)
local function about_a_model(command, lens)
  return function(request)
    local line = vim.api.nvim_win_get_cursor(0)[1] - 1
    local name = request.argument or models.at(models.with(request.client, request.bufnr, lens or command), line)
    server.execute(request.client, command, { request.uri, name }, request.bufnr)
  end
end

---@type table<string, fxlsp.Command>
M.commands = {
  ask = { about = 'fxlsp.showGraph', run = about_a_model('fxlsp.askFrontends', 'fxlsp.showGraph') },
  graph = {
    about = 'fxlsp.showGraph',
    run = function(request)
      local at = vim.lsp.util.make_position_params(0, request.client.offset_encoding)
      local options = request.argument and {} or { position = at.position }
      require('fxlsp.graph').show(request.client, request.bufnr, { request.uri, request.argument, options })
    end,
  },
  info = {
    run = function(request)
      require('fxlsp.information').show(request.client, request.bufnr)
    end,
  },
  instance = { about = 'fxlsp.chooseInstance', run = about_a_model('fxlsp.chooseInstance') },
  recipe = { about = 'fxlsp.chooseRecipe', run = about_a_model('fxlsp.chooseRecipe') },
  record = {
    run = function(request)
      require('fxlsp.recording').record(request.client, request.bufnr, request.rest)
    end,
  },
  restart = {
    without_server = true,
    run = function()
      require('fxlsp.restart').restart()
    end,
  },
  retrace = {
    run = function(request)
      server.execute(request.client, 'fxlsp.retrace', request.bang and {} or { request.uri }, request.bufnr)
    end,
  },
  trust = {
    words = { 'forget' },
    run = function(request)
      local trust = require('fxlsp.trust')
      if request.argument == 'forget' then
        trust.forget(request.client)
        require('fxlsp.restart').restart()
      else
        trust.grant(request.client)
      end
    end,
  },
}

--- Runs what the user command was given.
---@param arguments vim.api.keyset.create_user_command.command_args
function M.run(arguments)
  local name, argument = arguments.fargs[1], arguments.fargs[2]
  local command = M.commands[name]
  if not command then
    server.notify(('there is no `:Fxlsp %s`'):format(name), vim.log.levels.ERROR)
    return
  end
  local bufnr = vim.api.nvim_get_current_buf()
  local client = server.client(bufnr)
  if not client and not command.without_server then
    server.notify('no server runs for this buffer; see `:checkhealth fxlsp`', vim.log.levels.WARN)
    return
  end
  command.run({
    client = client,
    bufnr = bufnr,
    uri = vim.uri_from_bufnr(bufnr),
    argument = argument,
    rest = arguments.args:match('^%S+%s+(.*%S)'),
    bang = arguments.bang,
  })
end

---@param command fxlsp.Command
---@return string[]
local function words_of(command)
  local bufnr = vim.api.nvim_get_current_buf()
  local client = server.client(bufnr)
  if command.about and client then
    return vim.tbl_map(function(model)
      return model.name
    end, models.with(client, bufnr, command.about))
  end
  return command.words or {}
end

--- For the completion of the user command.
---@param lead string
---@param line string up to the cursor
---@return string[]
function M.complete(lead, line)
  local name = line:match('Fxlsp!?%s+(%S+)%s')
  local command = M.commands[name]
  local words = name and (command and words_of(command) or {}) or vim.tbl_keys(M.commands)
  words = vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, words)
  table.sort(words)
  return words
end

return M
