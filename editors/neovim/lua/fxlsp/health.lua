--- `:checkhealth fxlsp`.

local M = {}

local PATIENCE = 30000
--- Milliseconds for a program to say its version, and for a server to answer, on a busy machine.

local function check_editor()
  vim.health.start('Neovim')
  if vim.fn.has('nvim-0.11') == 0 then
    vim.health.error('Neovim 0.11 or later is needed')
  else
    vim.health.ok('Neovim ' .. tostring(vim.version()))
  end
  if vim.lsp.is_enabled('fxlsp') then
    vim.health.ok('enabled')
  else
    vim.health.warn('not enabled', "Write `vim.lsp.enable('fxlsp')` in your init.lua")
  end
end

local function check_program()
  vim.health.start('Program')
  local cmd = vim.lsp.config.fxlsp.cmd
  if type(cmd) ~= 'table' then
    vim.health.info('started by a function of yours')
    return
  end
  local path = vim.fn.exepath(cmd[1])
  if path == '' then
    vim.health.error(cmd[1] .. ' is not found', {
      'Install it, and start Neovim with its folder in `PATH`',
      "or name it: `vim.lsp.config('fxlsp', { cmd = { '/path/of/fxlsp', 'serve' } })`",
    })
    return
  end
  local ran = vim.system({ path, '--version' }, { text = true, timeout = PATIENCE }):wait()
  if ran.code == 0 then
    vim.health.ok(vim.trim(ran.stdout) .. ' in ' .. path)
  else
    vim.health.error(path .. ' does not run: ' .. vim.trim(ran.stderr))
  end
end

---@param client vim.lsp.Client
local function check_server(client)
  vim.health.start('Server of ' .. (client.root_dir or 'files without a project'))
  local params = { command = 'fxlsp.information', arguments = {} }
  local answer = client:request_sync('workspace/executeCommand', params, PATIENCE)
  if not answer or answer.err then
    vim.health.error('it does not answer', 'Run `:Fxlsp restart`')
    return
  end
  if answer.result.trusted then
    vim.health.ok('trusted')
  else
    vim.health.warn('not trusted, so nothing is traced', 'Run `:Fxlsp trust` in one of its buffers')
  end
  vim.health.info(answer.result.text)
end

function M.check()
  check_editor()
  check_program()
  local clients = vim.lsp.get_clients({ name = 'fxlsp' })
  if #clients == 0 then
    vim.health.start('Server')
    vim.health.info('None runs: one starts with the first Python file that is opened')
  end
  vim.iter(clients):each(check_server)
end

return M
