local t = require('harness')

-- The server has been greeted, the file is known to it, and its model is under way.
t.eventually(function()
  return require('fxlsp').status():find('tracing Net', 1, true)
end, 'a trace', require('fxlsp').status)
