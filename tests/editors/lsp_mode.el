;;; What the test of lsp-mode runs, after the configuration of the page.  -*- lexical-binding: t -*-

(defun until (what look)
  "Wait until LOOK returns something, and return that; WHAT it is."
  (let ((deadline (+ (float-time) (string-to-number (getenv "FXLSP_TEST_SECONDS")))) found)
    (while (not (setq found (funcall look)))
      (when (> (float-time) deadline)
        (error "It never came: %s" what))
      (accept-process-output nil 0.05))
    found))

(setq lsp-auto-guess-root t)                    ; a batch cannot be asked which folder is the project
(find-file "list.py")
(lsp)
(until "a server" (lambda () (and (lsp-find-workspace 'fxlsp) (eq 'initialized (lsp--workspace-status (lsp-find-workspace 'fxlsp))))))

(fxlsp-trust)
(until "a problem"
       (lambda ()
         (seq-some (lambda (each) (string-match-p "NameError" (lsp:diagnostic-message each)))
                   (apply #'append (hash-table-values (lsp-diagnostics))))))
(goto-char (point-min))
(search-forward "self.head(x)")
(backward-char 3)
(until "a hover"
       (lambda ()
         (let ((told (lsp-request "textDocument/hover" (lsp--text-document-position-params))))
           (and told (string-match-p "(2, 4) → (2, 4)" (format "%S" told))))))
(until "a lens"
       (lambda ()
         (string-match-p "traceable" (format "%S" (lsp-request "textDocument/codeLens"
                                      `(:textDocument ,(lsp--text-document-identifier)))))))
(message "passed")
(setq lsp-restart 'ignore)
(lsp-workspace-shutdown (lsp-find-workspace 'fxlsp))
