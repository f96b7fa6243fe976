local t = require('harness')

-- Asked at once; this script comes after the file was opened, so the question has to wait for its answer.
t.one_with(t.lenses, 'not traced: trust this workspace first')
t.equal(t.hints(), {})
t.eventually(function()
  return t.asked[1]
end, 'a question')
t.contains(t.asked[1].prompt, 'project')
t.equal(t.asked[1].items, { 'Trust it', 'Do not trust it' })

t.run_lens('class Net', 'trust this workspace')
t.one_with(t.hints, '11: (2, 4)')
t.equal(#t.asked, 1)
