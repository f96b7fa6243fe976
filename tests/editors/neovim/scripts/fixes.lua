local t = require('harness')

local examples = vim.json.decode(table.concat(vim.fn.readfile(vim.env.FIXES_TO_APPLY), '\n'))

local function text()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n') .. '\n'
end

---@param code string
local function problem(code)
  return vim.iter(vim.diagnostic.get(0)):find(function(each)
    return each.code == code
  end)
end

local function codes()
  return vim.tbl_map(function(each)
    return each.code
  end, vim.diagnostic.get(0))
end

for _, example in ipairs(examples) do
  vim.cmd.edit(example.name .. '.py')
  local found = t.eventually(function()
    return problem(example.code)
  end, ('%s of %s'):format(example.code, example.name), codes)
  vim.fn.cursor(found.lnum + 1, found.col + 1)
  local offered = {}
  vim.lsp.buf.code_action({
    apply = true,
    filter = function(action)
      table.insert(offered, action.title)
      return action.title == example.title
    end,
  })
  t.eventually(function()
    return text() ~= example.before
  end, example.title, function()
    return offered
  end)
  t.equal(text(), example.after)
  t.eventually(function()
    return not problem(example.code)
  end, ('%s without %s'):format(example.name, example.code), codes)
  vim.bo.modified = false
end
