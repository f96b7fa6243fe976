"""How a model is made and fed that nothing says: guesses, run on fake tensors, each error correcting the next one."""
