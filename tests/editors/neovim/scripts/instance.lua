local t = require('harness')

t.one_with(t.lenses, '10: first (+2 more): (1, 3, 64, 64) → (1, 8, 32, 32)')
t.one_with(t.hints, '11: (1, 8, 32, 32)')

t.run_lens('def forward', '+2 more', 'rest.1')
t.one_with(t.hints, '11: (1, 16, 8, 8)')
t.contains(t.asked[#t.asked].prompt, 'Which Down do you want to see?')
t.equal(#t.asked[#t.asked].items, 3)

-- By the command too, for the class around the cursor.
t.one_with(t.lenses, '10: rest.1')
t.cursor_at('torch.relu')
t.select({ 'rest.0' })
vim.cmd('Fxlsp instance')
t.one_with(t.hints, '11: (1, 16, 16, 16)')

-- And for one that is named.
t.cursor_at('import torch')
t.select({ 'The first one' })
vim.cmd('Fxlsp instance Down')
t.one_with(t.hints, '11: (1, 8, 32, 32)')
