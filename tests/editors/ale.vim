" What the test of ALE runs, after the configuration of the page.

function! s:Until(what, Look) abort
    let l:deadline = reltimefloat(reltime()) + str2float($FXLSP_TEST_SECONDS)
    while !a:Look()
        if reltimefloat(reltime()) > l:deadline
            throw 'It never came: ' . a:what
        endif
        sleep 50m
    endwhile
endfunction

function! s:HasProblem() abort
    return !empty(filter(copy(ale#engine#GetLoclist(bufnr(''))), 'v:val.text =~# "NameError"'))
endfunction

function! s:HasHover() abort
    silent ALEHover
    sleep 200m
    for l:window in range(1, winnr('$'))
        if getwinvar(l:window, '&previewwindow')
            return join(getbufline(winbufnr(l:window), 1, '$'), ' ') =~# '(2, 4) → (2, 4)'
        endif
    endfor
    return 0
endfunction

function! s:HasDetail() abort
    for l:window in range(1, winnr('$'))
        if join(getbufline(winbufnr(l:window), 1, '$'), ' ') =~# 'not registered'
            return 1
        endif
    endfor
    return 0
endfunction

function! s:Play() abort
    try
        call s:Until('a problem', function('s:HasProblem'))
        let g:ale_hover_to_preview = 1
        call search('self.head(x)', 'w')
        call s:Until('a hover', function('s:HasHover'))
        call search('layer(x)', 'w')
        silent ALEDetail
        call s:Until('the problem in full', function('s:HasDetail'))
        let l:outcome = 'passed'
    catch
        let l:outcome = v:exception . ' ' . string(ale#engine#GetLoclist(bufnr('')))
    endtry
    call writefile([l:outcome], $FXLSP_TEST_OUTCOME)
    qall!
endfunction

autocmd VimEnter * call timer_start(0, {-> s:Play()})
