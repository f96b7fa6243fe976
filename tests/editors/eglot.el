;;; What the test of eglot runs, after the configuration of the page.  -*- lexical-binding: t -*-

(defun until (what look)
  "Wait until LOOK returns something, and return that; WHAT it is."
  (let ((deadline (+ (float-time) (string-to-number (getenv "FXLSP_TEST_SECONDS")))) found)
    (while (not (setq found (funcall look)))
      (when (> (float-time) deadline)
        (error "It never came: %s" what))
      (accept-process-output nil 0.05))
    found))

(find-file "list.py")
(run-hooks 'post-command-hook)                  ; what eglot-ensure waits for
(until "a server" #'eglot-current-server)
(fxlsp-trust)

(until "a problem"
       (lambda ()
         (flymake-start)
         (seq-some (lambda (each) (string-match-p "NameError" (flymake-diagnostic-text each))) (flymake-diagnostics))))

(goto-char (point-min))
(search-forward "self.head(x)")
(backward-char 3)
(until "a hover"
       (lambda ()
         (let (told)
           (eglot-hover-eldoc-function (lambda (text &rest _) (setq told text)))
           (let ((deadline (+ (float-time) 5)))
             (while (and (not told) (< (float-time) deadline))
               (accept-process-output nil 0.05)))
           (and told (string-match-p "(2, 4) → (2, 4)" told)))))

(goto-char (point-min))
(search-forward "layer(x)")
(let ((fix (seq-find (lambda (each) (string-match-p "nn.ModuleList" (plist-get each :title)))
                     (eglot-code-actions (match-beginning 0) (match-end 0) "quickfix"))))
  (eglot--apply-workspace-edit (plist-get fix :edit)))
(goto-char (point-min))
(search-forward "nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])")
(set-buffer-modified-p nil)
(message "passed")
(eglot-shutdown (eglot-current-server))
