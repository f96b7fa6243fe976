local t = require('harness')

local function codes()
  return vim.tbl_map(function(problem)
    return problem.code
  end, vim.diagnostic.get(0))
end

t.one_with(codes, 'FX201')
t.one_with(codes, 'FX206')
