"""The search for constructor arguments and inputs that nothing states.

In: a class or a constructed model, and the conditions under which it is traced. Out: the texts of its constructor call
and inputs. A *trial* is a pair of guesses that know their Python text. The *runner* runs it on fake tensors, with duck
values for what is unknown. What fails leaves *evidence*; *rules* read it and suggest *edits*, which the *engine* tries
best first. Nothing is proof but that a trial runs: a wrong guess costs tries, and never passes for a result.

`trials` are what is tried and how it runs, `priors` the first guesses. `engine` has the loop of trials, from the
`starts` on; `proofs` decide whether the model itself is wrong, and `final_form` how what runs is written. `api` is what
the job uses.
"""
