--- What the scripts of these tests share. Each runs in a Neovim that has read its configuration and opened its files.

local M = {}

local PATIENCE = tonumber(vim.env.FXLSP_TEST_SECONDS) * 1000

---@param value any
---@return string
local function text(value)
  return type(value) == 'string' and value or vim.inspect(value)
end

--- Waits until something becomes true, and returns it.
---@generic T
---@param look fun(): T?
---@param what string
---@param seen (fun(): any)? what to show when it does not
---@return T
function M.eventually(look, what, seen)
  local found
  local done = vim.wait(PATIENCE, function()
    found = look()
    return found and true or false
  end, 20)
  if not done then
    error(('it never came: %s; there is %s'):format(what, seen and text(seen()) or 'nothing to show'), 2)
  end
  return found
end

---@param found any
---@param expected any
function M.equal(found, expected)
  if not vim.deep_equal(found, expected) then
    error(('%s\nis not\n%s'):format(text(found), text(expected)), 2)
  end
end

---@param found string
---@param part string taken literally
function M.contains(found, part)
  if not found:find(part, 1, true) then
    error(('%s\ndoes not contain\n%s'):format(found, part), 2)
  end
end

---@return vim.lsp.Client
function M.client()
  return M.eventually(function()
    local client = vim.lsp.get_clients({ bufnr = 0, name = 'fxlsp' })[1]
    return client and client.initialized and client
  end, 'a server for the buffer')
end

--- The virtual texts of a namespace in the buffer: what a user sees.
---@param namespace string
---@return string[]
local function shown(namespace)
  local texts = {}
  for name, id in pairs(vim.api.nvim_get_namespaces()) do
    if vim.startswith(name, namespace) then
      for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, id, 0, -1, { details = true })) do
        local chunks = vim.tbl_map(function(chunk)
          return chunk[1]
        end, mark[4].virt_text or {})
        table.insert(texts, ('%d: %s'):format(mark[2] + 1, table.concat(chunks)))
      end
    end
  end
  return texts
end

--- The lenses that are on the screen, as `line: text`.
---@return string[]
function M.lenses()
  return shown('nvim.lsp.codelens:')
end

--- The hints that Neovim has, as `line: text`.
---@return string[]
function M.hints()
  return vim.tbl_map(function(hint)
    return ('%d: %s'):format(hint.inlay_hint.position.line + 1, hint.inlay_hint.label)
  end, vim.lsp.inlay_hint.get({ bufnr = 0 }))
end

---@param list fun(): string[]
---@param part string
---@return string the first that has that part
function M.one_with(list, part)
  return M.eventually(function()
    return vim.iter(list()):find(function(each)
      return each:find(part, 1, true) ~= nil
    end)
  end, part, list)
end

---@param pattern string
function M.cursor_at(pattern)
  vim.fn.cursor(1, 1)
  assert(vim.fn.search(pattern, 'c') > 0, pattern)
end

--- Runs the lens of the line whose title has that part, as a user does who picks it from the list.
---@param line string a pattern
---@param part string
---@param answer string? the item to take of what the lens then asks
function M.run_lens(line, part, answer)
  M.cursor_at(line)
  M.select({ part, answer })
  vim.lsp.codelens.run()
end

--- What was asked by `vim.ui.select`, each with its items.
---@type { prompt: string, items: string[] }[]
M.asked = {}

--- Answers what is asked from now on: each time the first item that has one of the parts; nothing if none has.
---@param parts string[]
function M.select(parts)
  vim.ui.select = function(items, options, callback)
    local format = options.format_item or tostring
    table.insert(M.asked, { prompt = options.prompt, items = vim.tbl_map(format, items) })
    for number, item in ipairs(items) do
      for _, part in pairs(parts) do
        if format(item):find(part, 1, true) then
          return callback(item, number)
        end
      end
    end
    callback(nil, nil)
  end
end

--- What was said by `vim.notify`.
---@type string[]
M.said = {}

---@diagnostic disable-next-line: duplicate-set-field
vim.notify = function(message)
  table.insert(M.said, message)
end

--- What was opened by `vim.ui.open`.
---@type string[]
M.opened = {}

---@diagnostic disable-next-line: duplicate-set-field
vim.ui.open = function(uri)
  table.insert(M.opened, uri)
  return { wait = function() return { code = 0 } end }
end

---@param script string
---@param outcome string
---@param stays boolean
local function run(script, outcome, stays)
  local ok, err = xpcall(dofile, debug.traceback, script)
  local words = ok and 'passed'
    or table.concat({ err, 'said: ' .. text(M.said), 'asked: ' .. text(M.asked) }, '\n')
  -- Who waits for the file finds it whole.
  vim.fn.writefile(vim.split(words, '\n'), outcome .. '.new')
  assert(vim.uv.fs_rename(outcome .. '.new', outcome))
  if not (ok and stays) then
    vim.cmd('qall!')
  end
end

--- Runs a script once Neovim has started, notes how it went, and leaves as a user does.
---@param script string
---@param outcome string the file that takes the word `passed`, or what went wrong
---@param stays boolean whether Neovim is left to whoever ends it, if the script passed
function M.play(script, outcome, stays)
  vim.api.nvim_create_autocmd('VimEnter', {
    -- Not within the event: what a script does may lead to events of its own.
    callback = vim.schedule_wrap(function()
      run(script, outcome, stays)
    end),
  })
end

return M
