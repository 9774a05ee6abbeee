" SPDX-License-Identifier: BSD-2-Clause
"
" Shows beside each line of the current file which share of the time it took, in Vim (9.0.0067 or
" later) or Neovim:
"
"	wick serve app.wick --listen 8080
"	vim -S wick.vim app.c
"	:WickHeat
"
" :WickHeatOff removes the shares. Settings, with their defaults:
"
"	let g:wick_server = 'http://127.0.0.1:8080'	of wick serve or wick server
"	let g:wick_query = ''				a selector: which recording, process or thread
"	let g:wick_least = 0.001			the smallest share that is shown
"
" It needs curl. A server that has tokens gets the one in the environment variable WICK_TOKEN.

let s:namespace = has('nvim') ? nvim_create_namespace('wick') : 0
highlight default link WickHeat Comment
highlight default link WickHeatHot WarningMsg
if !has('nvim')
	call prop_type_add('WickHeat', {'highlight': 'WickHeat'})
	call prop_type_add('WickHeatHot', {'highlight': 'WickHeatHot'})
endif

" The answer about a file, as a dictionary. It has 'error' if there is none.
function! s:Ask(file) abort
	let server = get(g:, 'wick_server', 'http://127.0.0.1:8080')
	let command = ['curl', '--silent', '--show-error', '--get', '--max-time', '30',
		\ '--data-urlencode', 'file=' . a:file,
		\ '--data-urlencode', 'query=' . get(g:, 'wick_query', ''), server . '/api/heat']
	" By standard input: arguments can be read by other users.
	let header = empty($WICK_TOKEN) ? '' : 'header = "Authorization: Bearer ' . $WICK_TOKEN . '"'
	let text = system(join(map(command + ['--config', '-'], 'shellescape(v:val)')), header)
	try
		return json_decode(text)
	catch
		return {'error': trim(text)}
	endtry
endfunction

" The file may have been compiled in another folder: the end of its path is tried as well.
function! s:Find(path) abort
	let end = a:path
	let answer = s:Ask(end)
	while !has_key(answer, 'lines') && !has_key(answer, 'files') && stridx(end, '/') >= 0
		let end = substitute(end, '^/\=[^/]*/\=', '', '')
		if empty(end)
			break
		endif
		let answer = s:Ask(end)
	endwhile
	return answer
endfunction

function! s:Show(line, text, type) abort
	if has('nvim')
		call nvim_buf_set_extmark(0, s:namespace, a:line - 1, 0,
			\ {'virt_text': [['  ' . a:text, a:type]]})
	else
		call prop_add(a:line, 0, {'type': a:type, 'text': '  ' . a:text, 'text_align': 'after'})
	endif
endfunction

function! s:Clear() abort
	let b:wick_heat = {}
	if has('nvim')
		call nvim_buf_clear_namespace(0, s:namespace, 0, -1)
	else
		call prop_remove({'types': ['WickHeat', 'WickHeatHot'], 'all': 1}, 1, line('$'))
	endif
endfunction

function! s:Heat() abort
	let answer = s:Find(expand('%:p'))
	call s:Clear()
	if !has_key(answer, 'lines')
		echohl ErrorMsg
		echomsg 'wick: ' . get(answer, 'error', 'no answer')
		echohl None
		return
	endif
	for line in answer.lines
		if line.line > line('$') || line.share < get(g:, 'wick_least', 0.001)
			continue
		endif
		let text = printf('%.1f%%', 100 * line.share)
		if line.self_share > 0
			let text .= printf(' (self %.1f%%)', 100 * line.self_share)
		endif
		let b:wick_heat[line.line] = text
		call s:Show(line.line, text, line.self_share >= 0.1 ? 'WickHeatHot' : 'WickHeat')
	endfor
endfunction

command! WickHeat call s:Heat()
command! WickHeatOff call s:Clear()
